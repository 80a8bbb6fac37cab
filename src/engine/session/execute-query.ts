/** Executes a query once: authenticates, evaluates, renders. Synchronous; depends only on its inputs. */
import { renderValue } from '../../codec/wire.ts';
import { QueryFailure, Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import { evaluate } from '../../query/evaluate.ts';
import type { Node } from '../../query/node.ts';
import { isKind, type Micros } from '../../values/value.ts';
import type { EngineOptions, QueryRequest } from '../context/host.ts';
import {
  authenticate,
  authenticationContext,
  type AuthenticationHost,
} from '../access/authenticate.ts';
import type { Caller } from '../context/caller.ts';
import { boundedWork, Budget } from '../context/budget.ts';
import { permissionsOf } from '../access/caller-permissions.ts';
import { isAuthorized } from '../access/caller-roles.ts';
import type {
  AuthenticationContext,
  ContextParts,
  EngineContext,
  StoreContext,
} from '../context/context.ts';
import type { RecordedInputs } from './recorded-inputs.ts';
import { Meters } from '../context/meters.ts';
import type { Permissions } from '../context/access-request.ts';
import { ContextNames } from '../catalog/names.ts';
import { schemasOver } from '../catalog/schema.ts';
import { EngineSession } from './engine-session.ts';
import type { BodyInput, BodyResult } from '../transactions/execution.ts';
import { requireTransactionSize } from '../documents/version-rows.ts';

/** What all executions of one query share. */
export interface QueryPlan {
  readonly request: QueryRequest;
  /** The parsed query, or the faults of its text, which only an authenticated caller receives. */
  readonly parsed: Node | QueryFailure;
  /** When the query arrived. */
  readonly started: Micros;
  readonly inputs: Pick<RecordedInputs, 'begin' | 'madeIds'>;
  /** Set for a caller without a secret in this store: a user on a copy of a hub's database. */
  readonly impersonation?: Impersonation;
  /**
   * `Now()`, if it is not the snapshot because the query was made elsewhere. Permissions and expiry still use the snapshot, except on a
   * copy, whose head follows the clock of the device.
   */
  readonly now?: Micros;
}

export interface Impersonation {
  /** @throws Suspended */
  caller(context: StoreContext): Caller;
  permissions(context: EngineContext): Permissions;
}

/** The result of one execution. A query that fails with faults has an outcome too, but nothing that it wrote is kept. */
export interface QueryExecution {
  readonly caller: Caller;
  readonly outcome:
    | { readonly ok: true; readonly text: string; readonly created: boolean }
    | { readonly ok: false; readonly failure: QueryFailure };
  readonly snapshot: Micros;
  readonly budget: Budget;
  readonly meters: Meters;
}

/** Units of work for each character of an answer. */
const RENDER_WORK = 5;

export type ExecutionHost = AuthenticationHost & Pick<EngineOptions, 'clock'>;

/** @throws Suspended, Refusal, TurnOver */
export function executeQuery(
  plan: QueryPlan,
  { writer, head, answers }: BodyInput,
  host: ExecutionHost,
): BodyResult<QueryExecution> {
  const { request, parsed, started } = plan;
  if (request.isAbandoned?.()) throw abandoned();
  const present = snapshotOf(started, head, request.lastSeenTxn ?? 0);
  // The query may have waited since it arrived: for its turn, or for a password.
  const begun = host.clock();
  const inputs = plan.inputs.begin(answers);
  const commitTs = Math.max(present + 1, inputs.lookedUp.commitTs ?? begun + 1);
  const snapshot = (plan.impersonation && plan.now) ?? present;
  const schema = schemasOver(writer, writer.base);
  const store = { reader: writer, snapshot, schema };
  const caller =
    plan.impersonation?.caller(store) ??
    requireCaller(authenticationContext(store, host, answers), request.secret);
  const budget = new Budget(host.clock, started, request.timeoutMs ?? LIMITS.queryTimeoutDefaultMs);
  const meters = new Meters(budget);
  const ended = (outcome: QueryExecution['outcome']): BodyResult<QueryExecution> => ({
    value: { caller, outcome, snapshot: present, budget, meters },
    ts: outcome.ok ? commitTs : undefined,
  });
  const permissionsIn = (context: EngineContext): Permissions =>
    plan.impersonation?.permissions(context) ?? permissionsOf(context, caller);
  const parts: ContextParts = {
    reader: writer,
    writer,
    snapshot,
    now: plan.now,
    commitTs,
    apiVersion: request.apiVersion,
    caller,
    inputs,
    meters,
    schema,
    rewritten: new Set(),
    atEnd: [],
  };
  const session = new EngineSession(parts, permissionsIn, budget);
  const mayWrite = !(parsed instanceof QueryFailure) && parsed.effect === 'write';
  if (request.turnMs) budget.limitTurn(request.turnMs(mayWrite));
  if (!isAuthorized(session.context, caller)) refuseCaller();
  try {
    return ended(outcomeOf(parsed, session, request, budget, writer));
  } finally {
    request.recordTime?.((host.clock() - begun) / 1000);
  }
}

function outcomeOf(
  parsed: QueryPlan['parsed'],
  session: EngineSession,
  request: QueryRequest,
  budget: Budget,
  writer: BodyInput['writer'],
): QueryExecution['outcome'] {
  if (parsed instanceof QueryFailure) return { ok: false, failure: parsed };
  try {
    const value = evaluate(parsed, session, request);
    for (const check of session.context.atEnd) check();
    const text = renderValue(value, {
      names: new ContextNames(session.context),
      apiVersion: request.apiVersion,
      pendingTs: session.pendingTs,
      report: (chars) => budget.spend(boundedWork(chars * RENDER_WORK)),
    });
    requireTransactionSize(writer.bytes);
    return { ok: true, text, created: isKind(value, 'document') && value.created };
  } catch (reason) {
    if (reason instanceof QueryFailure) return { ok: false, failure: reason };
    throw reason;
  }
}

/**
 * The snapshot is not older than what the caller has seen. A time far ahead of this clock is limited: otherwise requests could move the
 * head into the far future, also step by step.
 */
const snapshotOf = (started: Micros, head: Micros, lastSeen: Micros): Micros =>
  Math.max(started, head, Math.min(lastSeen, started + LIMITS.lastSeenAheadMicros));

function requireCaller(context: AuthenticationContext, secret: string | undefined): Caller {
  const caller = secret === undefined ? undefined : authenticate(context, secret);
  return caller ?? refuseCaller();
}

/** Thrown before the commit, so the query has no effect. */
const abandoned = (): Refusal => new Refusal('time out', 'The query was stopped by its caller.');

function refuseCaller(): never {
  throw new Refusal('unauthorized', 'Unauthorized');
}
