/** Transactions over a copy: reads, and changes of its state. */
import type { Sha256 } from '../../../codec/sha256.ts';
import { type QueryPlan, systemContext } from '../../../engine/session.ts';
import type { BodyInput, ReadFreshness } from '../../../engine/transactions.ts';
import { ROOT_DATABASE } from '../../../engine/catalog.ts';
import type { Engine } from '../../../engine/engine.ts';
import { Refusal } from '../../../errors.ts';
import type { Micros } from '../../../values/value.ts';
import { derivedIds } from '../../protocol/digest.ts';
import type { ApplyHost } from '../pulled/apply-pull.ts';
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import { requireFence } from '../state/fence.ts';
import type { OutboxRecord } from '../state/outbox-record.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { readState, STATE, stateRow } from '../state/state-row.ts';
import { planFor } from '../view/local-execution.ts';

export interface ReplicaStoreOptions {
  readonly engine: Pick<Engine, 'transactions'>;
  readonly clock: () => Micros;
  readonly random: (bytes: number) => Uint8Array;
  readonly sha256: Sha256;
}

export class ReplicaStore {
  private readonly options: ReplicaStoreOptions;

  constructor(options: ReplicaStoreOptions) {
    this.options = options;
  }

  /** The host for all executions of one change. It makes the plan of each pending write only once. */
  host(): ApplyHost {
    const { transactions } = this.options.engine;
    const plans = new Map<string, QueryPlan>();
    return {
      transactions,
      sha256: this.options.sha256,
      contextOf: (input) => systemContext(input, ROOT_DATABASE, this.options),
      planOf: (record, state) => {
        const plan = plans.get(record.id) ?? this.planOf(record, state);
        plans.set(record.id, plan);
        return plan;
      },
    };
  }

  async read<T>(body: (input: BodyInput) => T, freshness?: ReadFreshness): Promise<T> {
    const { value } = await this.options.engine.transactions.read(
      (input) => ({ value: body(input) }),
      freshness,
    );
    return value;
  }

  /** @throws Refusal `bad request` if this database is not a copy */
  state(freshness?: ReadFreshness): Promise<ReplicaState> {
    return this.read(requireState, freshness);
  }

  change<T>(body: (transaction: ReplicaTransaction) => StateChange<T>): Promise<T> {
    const host = this.host();
    return this.write((input) => body({ input, state: requireState(input), host }));
  }

  /** @throws Fenced */
  changeFenced<T>(
    fence: number,
    body: (transaction: ReplicaTransaction) => StateChange<T>,
  ): Promise<T> {
    const host = this.host();
    return this.write((input) => body({ input, state: requireFence(input.writer, fence), host }));
  }

  async write<T>(body: (input: BodyInput) => StateChange<T>): Promise<T> {
    const { value } = await this.options.engine.transactions.write((input) => {
      const { value, next, announced } = body(input);
      if (next) input.writer.put('sync', stateRow(next));
      const ts = Math.max(input.head, this.options.clock()) + 1;
      return { value, ts, ...(announced && { announced }) };
    });
    return value;
  }

  private planOf({ item }: OutboxRecord, state: ReplicaState): QueryPlan {
    const { engine, sha256 } = this.options;
    const { query, apiVersion, now, ids } = item;
    const inputs = { now, ids: ids.map(BigInt), moreIds: derivedIds(item, item.idKey, sha256) };
    const request = { query, apiVersion, allows: 'write' } as const;
    return planFor(engine.transactions, request, state.actor, inputs);
  }
}

/** @throws Suspended; Refusal `bad request` if this database is not a copy */
export function requireState({ writer }: BodyInput): ReplicaState {
  const state = readState(writer.row(STATE));
  if (!state)
    throw new Refusal(
      'bad request',
      'This database is not synced with a hub. Call `db.sync()` first.',
    );
  return state;
}
