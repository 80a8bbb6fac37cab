/** Executes a query on the copy with the identity of the hub. The result has its answer, its effects and its reads. */
import type { Sha256 } from '../../../codec/sha256.ts';
import type { QueryRequest } from '../../../engine/host.ts';
import type { QueryExecution, QueryPlan } from '../../../engine/session.ts';
import type { BodyInput } from '../../../engine/transactions.ts';
import type { Transactions } from '../../../engine/engine.ts';
import { Refusal } from '../../../errors.ts';
import { Overlay } from '../../../store/overlay.ts';
import { NO_WRITES, type WriteSet } from '../../../store/port.ts';
import type { Micros } from '../../../values/value.ts';
import { digestOf } from '../../protocol/digest.ts';
import type { Actor } from '../../protocol/messages.ts';
import { refusingSecrets } from '../../protocol/refuse-secrets.ts';
import type { Reads } from '../state/outbox-record.ts';
import { impersonate } from './impersonation.ts';
import { keptReads, type PresentReader } from './tracked-reads.ts';

/** Inputs of an earlier execution of a write, which must be the same when it runs again. */
export interface FixedInputs {
  readonly now: Micros;
  readonly ids: readonly bigint[];
  readonly moreIds: (index: number) => bigint;
}

export function planFor(
  transactions: Transactions,
  request: Omit<QueryRequest, 'secret'>,
  actor: Actor,
  inputs: Partial<FixedInputs>,
): QueryPlan {
  const plan = transactions.plan(
    { ...request, secret: undefined },
    { ...inputs, impersonation: impersonate(actor) },
  );
  return refusingSecrets(plan, refuseSecrets);
}

function refuseSecrets(): never {
  throw new Refusal(
    'connection_needed',
    'A query with passwords, logins, logouts, keys or tokens needs a connection to the hub.',
  );
}

/** The result of a query that was executed on the copy. */
export interface LocalExecution {
  readonly attempted: QueryExecution;
  /** Undefined if it failed. */
  readonly ts: Micros | undefined;
  /** Empty if it failed. */
  readonly effects: WriteSet;
  readonly reads: Reads | 'all';
}

/** @throws Suspended, Refusal, HubOnlyFunction */
export function executeLocally(
  transactions: Transactions,
  plan: QueryPlan,
  input: BodyInput,
  reader: PresentReader,
): LocalExecution {
  const own = new Overlay(reader);
  const { value, ts } = transactions.execute(plan, { ...input, writer: own });
  return {
    attempted: value,
    ts,
    effects: value.outcome.ok ? own.writes() : NO_WRITES,
    reads: keptReads(reader),
  };
}

/** Undefined if the execution failed, because then there are no effects to compare. */
export const digestOfExecution = (
  { attempted, effects }: LocalExecution,
  sha256: Sha256,
): string | undefined =>
  attempted.outcome.ok ? digestOf(effects, attempted.outcome.text, sha256) : undefined;
