/** One transaction that changes a copy. */
import type { QueryPlan } from '../../../engine/session.ts';
import type { Announced, BodyInput } from '../../../engine/transactions.ts';
import type { Transactions } from '../../../engine/engine.ts';
import type { OutboxRecord } from '../state/outbox-record.ts';
import type { ReplicaState } from '../state/replica-state.ts';

/** What running pending writes again needs. */
export interface RebaseHost {
  readonly transactions: Transactions;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
  /** How a pending write is run again; the same each time. */
  readonly planOf: (record: OutboxRecord, state: ReplicaState) => QueryPlan;
}

export interface ReplicaTransaction {
  readonly input: BodyInput;
  /** As it is before. */
  readonly state: ReplicaState;
  readonly host: RebaseHost;
}

/** What the transaction makes of the state. */
export interface StateChange<T> {
  readonly value: T;
  /** Undefined: the state stays as it is. */
  readonly next?: ReplicaState;
  readonly announced?: Announced;
}
