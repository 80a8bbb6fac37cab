/** A transaction that changes a copy. */
import type { Sha256 } from '../../../codec/sha256.ts';
import type { QueryPlan } from '../../../engine/session.ts';
import type { Announced, BodyInput } from '../../../engine/transactions.ts';
import type { Transactions } from '../../../engine/engine.ts';
import type { OutboxRecord } from '../state/outbox-record.ts';
import type { ReplicaState } from '../state/replica-state.ts';

/** Services that running pending writes again needs. */
export interface RebaseHost {
  readonly transactions: Transactions;
  readonly sha256: Sha256;
  /** Plans the repeated execution of a pending write. Each call returns an equal plan. */
  readonly planOf: (record: OutboxRecord, state: ReplicaState) => QueryPlan;
}

export interface ReplicaTransaction {
  readonly input: BodyInput;
  /** The state before the transaction. */
  readonly state: ReplicaState;
  readonly host: RebaseHost;
}

/** The result of the transaction. */
export interface StateChange<T> {
  readonly value: T;
  /** The new state. Undefined: the state does not change. */
  readonly next?: ReplicaState;
  readonly announced?: Announced;
}
