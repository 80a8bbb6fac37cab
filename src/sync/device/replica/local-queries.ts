/** Queries of the app on a copy: reads of the data shown, and writes into the outbox. */
import type { MissingSet, WriteNote } from '../../../answers.ts';
import type { LongQueries, QueryAnswer, QueryRequest } from '../../../engine/host.ts';
import type { QueryPlan } from '../../../engine/session.ts';
import type { TransactionBody } from '../../../engine/transactions.ts';
import { mayWrite } from '../../../engine/engine.ts';
import { Refusal } from '../../../errors.ts';
import type { ApiVersion } from '../../../query/session.ts';
import { TurnOver } from '../../../query/turn-over.ts';
import { Overlay } from '../../../store/overlay.ts';
import type { RowAddress } from '../../../store/port.ts';
import type { Micros } from '../../../values/value.ts';
import { createDeviceIds, type IdKey } from '../../protocol/device-ids.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import { submit, type SubmitOutcome } from '../outbox/submit.ts';
import type { SavedWrite } from '../state/outbox-record.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { HubOnlyFunction } from '../view/impersonation.ts';
import { planFor } from '../view/local-execution.ts';
import { requireUnlocked, type ReplicaView } from '../view/replica-view.ts';
import { asTheHubDenies } from '../view/as-the-hub-denies.ts';
import { missingSets } from '../view/missing-sets.ts';
import { requireState, type ReplicaStore, type ReplicaStoreOptions } from './replica-store.ts';

export interface LocalQueryOptions extends ReplicaStoreOptions {
  /** The view with which the engine was created. */
  readonly view: ReplicaView;
  /** Executes long reads, as the actor of the copy. */
  readonly longQueries?: LongQueries;
  /** Called when a write is stored. The caller of the write gets its answer when this resolves. */
  readonly onSubmitted?: (write: Omit<SubmittedWrite, 'id' | 'answer'>) => Promise<void>;
}

export interface SubmitRequest {
  readonly query: string;
  readonly apiVersion: ApiVersion;
  readonly timeoutMs?: number | undefined;
  readonly isAbandoned?: () => boolean;
  /** For reads, as in `QueryRequest`. */
  readonly minSnapshot?: Micros;
  /** The id of a refused write that this one replaces. It is removed in the same commit. */
  readonly replaces?: string;
  /** Label and data that the app attaches to the write. Stored with it, but not sent to the hub. */
  readonly note?: WriteNote | undefined;
}

/** A stored write, with what its second copy needs. */
export interface SubmittedWrite extends SavedWrite {
  readonly id: string;
  readonly device: DeviceId;
  /** The result on this device. `undefined`: only the hub can execute it, because it calls a function with a role of its own. */
  readonly answer: QueryAnswer | undefined;
}

/** `failed`: the answer of a write that was not stored. */
export type Submitted = SubmittedWrite | { readonly failed: QueryAnswer };

export class LocalQueries {
  private readonly options: LocalQueryOptions;
  private readonly store: ReplicaStore;
  private readonly makeId: (key: IdKey) => bigint;

  constructor(options: LocalQueryOptions, store: ReplicaStore) {
    this.options = options;
    this.store = store;
    this.makeId = createDeviceIds(options.clock, options.random, options.sha256);
  }

  /** Reads, or submits a write, depending on the query. */
  async query(request: QueryRequest): Promise<QueryAnswer> {
    const state = await this.store.state();
    const plan = this.planOf(request, state);
    if (!mayWrite(plan)) return this.execute(plan);
    const submitted = await this.submitPlan(plan, state);
    if ('failed' in submitted) return submitted.failed;
    if (submitted.answer) return submitted.answer;
    throw hubOnly(
      ' The write is stored: use `submit()`, and wait for `settled` to get the answer.',
    );
  }

  async read(request: SubmitRequest): Promise<QueryAnswer> {
    const state = await this.store.state(request);
    return this.execute(this.planOf({ ...request, allows: 'read' }, state));
  }

  async submit(request: SubmitRequest): Promise<Submitted> {
    const state = await this.store.state();
    const plan = this.planOf({ ...request, allows: 'write' }, state);
    return this.submitPlan(plan, state, request);
  }

  private planOf(request: Omit<QueryRequest, 'secret'>, { actor, idKey }: ReplicaState): QueryPlan {
    const ids = { moreIds: () => this.makeId(idKey) };
    return planFor(this.options.engine.transactions, request, actor, ids);
  }

  private async execute(planned: QueryPlan): Promise<QueryAnswer> {
    const { engine, view, longQueries } = this.options;
    const { transactions } = engine;
    const { request } = planned;
    const plan = longQueries
      ? { ...planned, request: { ...request, turnMs: () => longQueries.turnMs(request) } }
      : planned;
    let rows: readonly RowAddress[] = [];
    let missing: readonly MissingSet[] = [];
    let sets: ReplicaState['sets'] = [];
    try {
      const run = await transactions.read((input) => {
        const state = requireState(input);
        ({ sets } = state);
        requireUnlocked(state);
        const reader = view.readerOver(input.writer, state);
        ({ rows } = reader);
        const writer = new Overlay(reader);
        // At least the time of the latest write and of the cursor: this device's clock may be slow, and no data here is of the future.
        const now = Math.max(plan.started + state.skew, state.lastNow, state.cursor ?? 0);
        const result = transactions.execute({ ...plan, now }, { ...input, writer });
        missing = missingSets(reader, sets);
        return result;
      }, request);
      const answer = asTheHubDenies(transactions.answer(plan, run), sets, request.apiVersion);
      const { readSet } = answer;
      return {
        ...answer,
        missing,
        readSet: { ...readSet, rows: [...readSet.rows, ...rows] },
      };
    } catch (thrown) {
      const reason = thrown instanceof HubOnlyFunction ? hubOnly('') : thrown;
      if (!(reason instanceof TurnOver && longQueries)) return transactions.refused(plan, reason);
      return longQueries
        .execute({ ...request, arrived: plan.started })
        .catch((refusal: unknown) => transactions.refused(plan, refusal));
    }
  }

  private async submitPlan(
    plan: QueryPlan,
    { skew, lastNow, idKey, sets }: ReplicaState,
    { replaces, note }: Pick<SubmitRequest, 'replaces' | 'note'> = {},
  ): Promise<Submitted> {
    const { view, clock, onSubmitted } = this.options;
    const host = { ...this.store.host(), view };
    const { transactions } = host;
    const started = Math.max(clock() + skew, lastNow + 1);
    const body: TransactionBody<SubmitOutcome> = (input) => {
      const state = requireState(input);
      requireUnlocked(state);
      const now = Math.max(started, state.lastNow + 1);
      return submit({ plan: { ...plan, now }, now, idKey, replaces, note }, state, input, host);
    };
    try {
      const committed = await transactions.write(body);
      const { record, device, run } = committed.value;
      const answer = run && transactions.answer(plan, { ...committed, value: run.attempted });
      if (!record)
        return { failed: asTheHubDenies(required(answer), sets, plan.request.apiVersion) };
      const { id, item } = record;
      await onSubmitted?.({ device, item, note });
      return { id, device, item, note, answer };
    } catch (reason) {
      return { failed: transactions.refused(plan, reason) };
    }
  }
}

const hubOnly = (more: string): Refusal =>
  new Refusal(
    'connection_needed',
    `Only the hub can run a function with a role of its own.${more}`,
  );

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a failed query has an answer');
  return value;
}
