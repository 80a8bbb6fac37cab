/** A copy of a hub's database on a device: see `api.ts`. */
import { hexOfBytes } from '../../codec/hex.ts';
import type { QueryAnswer, QueryRequest } from '../../engine/host.ts';
import type { Engine } from '../../engine/engine.ts';
import { type QueryPlan, systemContext } from '../../engine/session.ts';
import type { TransactionBody, BodyInput } from '../../engine/transactions.ts';
import { ROOT_DATABASE } from '../../engine/catalog.ts';
import { mayWrite } from '../../engine/engine.ts';
import { Refusal } from '../../errors.ts';
import type { Micros } from '../../values/value.ts';
import { derivedIds } from '../digest.ts';
import type {
  Actor,
  DeviceId,
  DocumentName,
  Epoch,
  Pulled,
  PushItem,
  Verdict,
  Welcome,
} from '../protocol.ts';
import { adopt } from './adopt.ts';
import type {
  Applied,
  Replica,
  ReplicaSet,
  ReplicaState,
  Submitted,
  SubmitRequest,
  WriteRecord,
  WriteState,
} from './api.ts';
import { attemptApply, requireFence, type ApplyHost } from './apply.ts';
import { documentsOfSet, fingerprintOfSet } from './held.ts';
import { planFor } from './local-run.ts';
import { outgoingIn, recordsOf, settle } from './outbox.ts';
import { discard, park, prune, reenter, rename, restore, type Damaged } from './repairs.ts';
import { outboxIn, outboxRange, publicOf, readState, STATE, stateRow } from './rows.ts';
import type { Step } from './step.ts';
import { attemptSubmit, type SubmitOutcome } from './submit.ts';
import type { ReplicaView, Seen } from './view.ts';
import { wantSets } from './wanted-sets.ts';

export interface ReplicaOptions {
  readonly engine: Pick<Engine, 'transactions'>;
  /** The one the engine was made with. */
  readonly view: ReplicaView;
  readonly clock: () => Micros;
  readonly random: (bytes: number) => Uint8Array;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
  /** A write has been kept; whoever made it is told when this is done. */
  readonly onSubmitted?: (write: Pick<Submitted, 'device' | 'item'>) => Promise<void>;
}

export const createReplica = (options: ReplicaOptions): Replica => new StoredReplica(options);

class StoredReplica implements Replica {
  private readonly options: ReplicaOptions;

  constructor(options: ReplicaOptions) {
    this.options = options;
  }

  async state(): Promise<ReplicaState | undefined> {
    return this.look(({ writer }) => readState(writer.row(STATE)));
  }

  async adopt(hub: string, actor: Actor, epoch: Epoch, device: DeviceId): Promise<ReplicaState> {
    return this.write((input) => adopt(input, { hub, actor, epoch, device }));
  }

  // --- queries ------------------------------------------------------------------------------------

  async query(request: QueryRequest): Promise<QueryAnswer> {
    const state = await this.required();
    const plan = this.planOf(request, state);
    if (!mayWrite(plan)) return this.readBy(plan);
    const submitted = await this.submitBy(plan, state);
    if ('failed' in submitted) return submitted.failed;
    if (submitted.answer) return submitted.answer;
    throw new Refusal(
      'connection_needed',
      'The function has its own role, so only the hub can run it. The write is stored in the outbox. Use `submit()` and wait for `settled` to get the answer.',
    );
  }

  async read(request: SubmitRequest): Promise<QueryAnswer> {
    return this.readBy(this.planOf({ ...request, allows: 'read' }, await this.required()));
  }

  async submit(request: SubmitRequest): Promise<Submitted | { readonly failed: QueryAnswer }> {
    const state = await this.required();
    return this.submitBy(
      this.planOf({ ...request, allows: 'write' }, state),
      state,
      request.replaces,
    );
  }

  private planOf(request: Omit<QueryRequest, 'secret'>, state: ReplicaState): QueryPlan {
    return planFor(this.options.engine.transactions, request, requireActor(state));
  }

  private async readBy(plan: QueryPlan): Promise<QueryAnswer> {
    const { engine, view } = this.options;
    const { transactions } = engine;
    const looked: Seen = { rows: [], ranges: [] };
    try {
      const run = await transactions.read((input) => {
        looked.rows.length = 0;
        const writer = view.over(input.writer, looked.rows);
        return transactions.execute(plan, { ...input, writer });
      });
      const answer = transactions.answer(plan, run);
      const rows = [...answer.readSet.rows, ...looked.rows];
      return { ...answer, readSet: { ...answer.readSet, rows } };
    } catch (reason) {
      return transactions.refused(plan, reason);
    }
  }

  private async submitBy(
    plan: QueryPlan,
    { skew, lastNow }: ReplicaState,
    replaces?: string,
  ): Promise<Submitted | { readonly failed: QueryAnswer }> {
    const { view, clock } = this.options;
    const host = { ...this.host(), view };
    const { transactions } = host;
    const begun = Math.max(clock() + skew, lastNow + 1);
    const attempt: TransactionBody<SubmitOutcome> = (input) => {
      const present = requireState(input);
      if (present.isLocked)
        throw new Refusal('locked', 'The data on this device is locked. Log in again.');
      const now = Math.max(begun, present.lastNow + 1);
      return attemptSubmit({ plan: { ...plan, now }, now, replaces }, present, input, host);
    };
    try {
      const run = await transactions.write(attempt);
      const { record, device, run: local } = run.value;
      const answer = local && transactions.answer(plan, { ...run, value: local.attempted });
      if (!record) return { failed: required(answer) };
      await this.options.onSubmitted?.({ device, item: record.item });
      return { id: record.id, device, item: record.item, answer };
    } catch (reason) {
      return { failed: transactions.refused(plan, reason) };
    }
  }

  // --- the outbox ---------------------------------------------------------------------------------

  async outgoing(limits: {
    readonly count: number;
    readonly bytes: number;
  }): Promise<readonly PushItem[]> {
    return this.look(({ writer }) => {
      const state = readState(writer.row(STATE));
      return state ? outgoingIn(writer, state, limits) : [];
    });
  }

  async writes(states?: readonly WriteState[]): Promise<readonly WriteRecord[]> {
    return this.look(({ writer }) => {
      const records = outboxIn(writer, outboxRange()).map(publicOf);
      return states ? records.filter(({ state }) => states.includes(state)) : records;
    });
  }

  async find(ids: readonly string[]): Promise<readonly WriteRecord[]> {
    return this.look(({ writer }) => recordsOf(writer, ids));
  }

  async settle(fence: number, verdicts: readonly Verdict[]): Promise<readonly WriteRecord[]> {
    return this.fenced(fence, ({ input, state }) => settle(input, state, verdicts));
  }

  async restore(device: DeviceId, items: readonly PushItem[]): Promise<number> {
    const fresh = this.newDevice();
    return this.change((damaged) => restore(damaged, { device, items, fresh }));
  }

  async rename(fence: number): Promise<ReplicaState> {
    return this.fenced(fence, (damaged) => rename(damaged, this.newDevice()));
  }

  async reenter(fence: number, epoch: Epoch): Promise<ReplicaState> {
    return this.fenced(fence, (damaged) => reenter(damaged, this.newDevice(), epoch));
  }

  async park(fence: number, isParked: boolean): Promise<void> {
    return this.fenced(fence, (damaged) => park(damaged, isParked));
  }

  async discard(id: string): Promise<void> {
    return this.change((damaged) => discard(damaged, id));
  }

  async prune(before: Micros): Promise<number> {
    return this.change((damaged) => prune(damaged, before));
  }

  private newDevice(): DeviceId {
    return hexOfBytes(this.options.random(16));
  }

  // --- what the hub says --------------------------------------------------------------------------

  async takeFence(): Promise<number> {
    return this.change(({ state }) => {
      const fence = state.fence + 1;
      return { value: fence, next: { ...state, fence } };
    });
  }

  async greet(fence: number, { hubTime, epoch, actor }: Welcome, arrived: Micros) {
    return this.fenced(fence, ({ state }) => {
      // A clock that was ahead has made times that are to come: they are no floor for what is written now.
      const lastNow = Math.min(state.lastNow, hubTime);
      const skew = hubTime - arrived;
      const next = { ...state, skew, lastNow, actor, epoch: state.epoch ?? epoch };
      return { value: next, next };
    });
  }

  async apply(
    fence: number,
    pulled: Pulled,
    asked?: readonly Pick<ReplicaSet, 'id' | 'query'>[],
  ): Promise<Applied> {
    const host = this.host();
    const { value } = await host.transactions.write((input) =>
      attemptApply({ fence, asked }, pulled, input, host),
    );
    return value;
  }

  async checked(fence: number, since: string | undefined): Promise<ReplicaState> {
    return this.fenced(fence, ({ state }) => {
      if (state.suspectSince !== since) return { value: state };
      const next = { ...state, suspectSince: undefined };
      return { value: next, next };
    });
  }

  async setSets(wanted: readonly { readonly id: string; readonly query: string }[]) {
    return this.change((damaged) => wantSets(damaged, wanted));
  }

  async fingerprint(set: ReplicaSet): Promise<readonly string[]> {
    return this.look(({ writer }) => fingerprintOfSet(writer, set));
  }

  async documentsIn(
    set: ReplicaSet,
    buckets: readonly number[],
  ): Promise<readonly (readonly [...DocumentName, Micros])[]> {
    return this.look(({ writer }) => documentsOfSet(writer, set, buckets));
  }

  async lock(isLocked: boolean): Promise<void> {
    await this.change(({ state }) => ({ value: undefined, next: { ...state, isLocked } }));
  }

  // --- commits ------------------------------------------------------------------------------------

  /** For all attempts of one change. */
  private host(): ApplyHost {
    const { transactions } = this.options.engine;
    const plans = new Map<string, QueryPlan>();
    return {
      transactions,
      sha256: this.options.sha256,
      contextOf: (input) => systemContext(input, ROOT_DATABASE, this.options),
      planOf: (record, state) => {
        const known = plans.get(record.id);
        if (known) return known;
        const { query, apiVersion, now, ids } = record.item;
        const request = { query, apiVersion, allows: 'write' } as QueryRequest;
        const moreIds = derivedIds(record.item, this.options.sha256);
        const given = { now, ids: ids.map(BigInt), moreIds };
        const plan = planFor(transactions, request, requireActor(state), given);
        plans.set(record.id, plan);
        return plan;
      },
    };
  }

  private async required(): Promise<ReplicaState> {
    return this.look(requireState);
  }

  private async look<T>(body: (input: BodyInput) => T): Promise<T> {
    const { value } = await this.options.engine.transactions.read((input) => ({
      value: body(input),
      ts: 0,
      keep: false,
    }));
    return value;
  }

  private async write<T>(body: (input: BodyInput) => Step<T>): Promise<T> {
    const { value } = await this.options.engine.transactions.write((input) => {
      const { value, next, announced } = body(input);
      if (next) input.writer.put('sync', stateRow(next));
      const ts = Math.max(input.head, this.options.clock()) + 1;
      return { value, ts, keep: true, ...(announced && { announced }) };
    });
    return value;
  }

  private change<T>(body: (damaged: Damaged) => Step<T>): Promise<T> {
    const host = this.host();
    return this.write((input) => body({ input, state: requireState(input), host }));
  }

  private fenced<T>(fence: number, body: (damaged: Damaged) => Step<T>): Promise<T> {
    const host = this.host();
    return this.write((input) => body({ input, state: requireFence(input.writer, fence), host }));
  }
}

function requireState({ writer }: BodyInput): ReplicaState {
  const state = readState(writer.row(STATE));
  if (!state)
    throw new Refusal(
      'bad request',
      'This database is not synced with a hub. Call `db.sync()` first.',
    );
  return state;
}

function requireActor({ actor }: ReplicaState): Actor {
  if (!actor) throw new Error('a copy has an actor after its first contact with the hub');
  return actor;
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a failed query has an answer');
  return value;
}
