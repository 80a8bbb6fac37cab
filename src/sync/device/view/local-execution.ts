/** Runs a query on the copy, as the identity of the hub: what it answers, what it would change, what it reads. */
import type { QueryRequest } from '../../../engine/host.ts';
import type { QueryExecution, QueryPlan } from '../../../engine/session.ts';
import type { BodyInput } from '../../../engine/transactions.ts';
import type { Transactions } from '../../../engine/engine.ts';
import { Refusal } from '../../../errors.ts';
import { Overlay } from '../../../store/overlay.ts';
import type { WriteSet } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { Micros } from '../../../values/value.ts';
import { digestOf } from '../../protocol/digest.ts';
import type { Actor } from '../../protocol/messages.ts';
import { refusingSecrets } from '../../protocol/refuse-secrets.ts';
import type { Reads } from '../state/outbox-record.ts';
import { impersonate } from './impersonation.ts';
import { keptReads, type TrackedReads } from './tracked-reads.ts';

/** What a write that was made before must not make up anew. */
export interface FixedInputs {
  readonly now: Micros;
  readonly ids: readonly bigint[];
  readonly moreIds: (index: number) => bigint;
}

export function planFor(
  transactions: Transactions,
  request: Omit<QueryRequest, 'secret'>,
  actor: Actor,
  inputs: Partial<FixedInputs> = {},
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

/** A query that was run on the copy. */
export interface LocalExecution {
  readonly attempted: QueryExecution;
  /** Undefined when it failed. */
  readonly ts: Micros | undefined;
  /** Empty when it failed. */
  readonly effects: WriteSet;
  readonly reads: Reads | 'all';
}

/** What a query reads through, and where its reads are noted. */
export interface TrackedReader {
  readonly reader: Reader;
  readonly reads: TrackedReads;
}

/** @throws Suspended, Refusal, HubOnlyFunction */
export function executeLocally(
  transactions: Transactions,
  plan: QueryPlan,
  input: BodyInput,
  { reader, reads }: TrackedReader,
): LocalExecution {
  const own = new Overlay(reader);
  const { value, ts } = transactions.execute(plan, { ...input, writer: own });
  return {
    attempted: value,
    ts,
    effects: value.outcome.ok ? own.writes() : NO_EFFECTS,
    reads: keptReads(reads),
  };
}

export const NO_EFFECTS: WriteSet = { puts: [], deletes: [] };

/** Undefined when it failed: then there is nothing to compare with. */
export const digestOfExecution = (
  { attempted, effects }: LocalExecution,
  sha256: (bytes: Uint8Array) => Uint8Array,
): string | undefined =>
  attempted.outcome.ok ? digestOf(effects, attempted.outcome.text, sha256) : undefined;
