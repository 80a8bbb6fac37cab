/** A replica over a store. See `replica.ts`. */
import { hexOfBytes } from '../../../codec/hex.ts';
import type { QueryRequest } from '../../../engine/host.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Micros } from '../../../values/value.ts';
import type { DeviceId, Epoch } from '../../protocol/identifiers.ts';
import type { Pulled, Welcome } from '../../protocol/messages.ts';
import type { Verdict } from '../../protocol/writes.ts';
import { outgoingItems, writesById, type PushBounds } from '../outbox/find-writes.ts';
import { withIdTaken } from '../outbox/new-id.ts';
import { parkWrites } from '../outbox/park-writes.ts';
import { recoverWrites } from '../outbox/recover-writes.ts';
import { discard, pruneWrites } from '../outbox/remove-writes.ts';
import { moveToDevice, resubmitAll } from '../outbox/renumber.ts';
import { settle } from '../outbox/verdicts.ts';
import { applyPull, type Applied, type RequestState } from '../pulled/apply-pull.ts';
import { setKeptSets } from '../pulled/kept-sets.ts';
import { documentsInBuckets, fingerprintOfSet } from '../pulled/set-contents.ts';
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import { publicRecord, type SavedWrite } from '../state/outbox-record.ts';
import { readOutboxRow } from '../state/outbox-row.ts';
import { outboxRange, outboxRecords, outboxRows } from '../state/outbox-rows.ts';
import type { KeptSet } from '../state/replica-state.ts';
import { readState, STATE } from '../state/state-row.ts';
import { adopt } from './adopt.ts';
import { LocalQueries, type LocalQueryOptions } from './local-queries.ts';
import { ReplicaStore, requireState, type ReplicaStoreOptions } from './replica-store.ts';
import type { Introduction, Replica, SubmitRequest } from './replica.ts';

export type ReplicaOptions = ReplicaStoreOptions & LocalQueryOptions;

export const createReplica = (options: ReplicaOptions): Replica => new StoredReplica(options);

class StoredReplica implements Replica {
  private readonly options: ReplicaOptions;
  private readonly store: ReplicaStore;
  private readonly queries: LocalQueries;

  constructor(options: ReplicaOptions) {
    this.options = options;
    this.store = new ReplicaStore(options);
    this.queries = new LocalQueries(options, this.store);
  }

  state() {
    return this.store.read(({ writer }) => readState(writer.row(STATE)));
  }

  adopt(hub: string, { actor, epoch, idKey }: Introduction, device: DeviceId) {
    return this.store.write((input) => adopt(input, { hub, actor, epoch, idKey, device }));
  }

  // --- queries ------------------------------------------------------------------------------------

  query(request: QueryRequest) {
    return this.queries.query(request);
  }

  read(request: SubmitRequest) {
    return this.queries.read(request);
  }

  submit(request: SubmitRequest) {
    return this.queries.submit(request);
  }

  // --- the outbox ---------------------------------------------------------------------------------

  outgoing(bounds: PushBounds) {
    return this.store.read(({ writer }) => {
      const state = readState(writer.row(STATE));
      return state ? outgoingItems(writer, state, bounds) : [];
    });
  }

  unsent() {
    return this.store.read((input) => {
      const { device, era, settledSeq, lastSeq } = requireState(input);
      return outboxRows(input.writer, era, settledSeq + 1, lastSeq).map((row) => {
        const { item, note } = readOutboxRow(row);
        return { device, item, note };
      });
    });
  }

  writes() {
    return this.store.read(({ writer }) => outboxRecords(writer, outboxRange()).map(publicRecord));
  }

  writesById(ids: readonly string[]) {
    return this.store.read(({ writer }) => writesById(writer, ids).map(publicRecord));
  }

  settle(fence: number, verdicts: readonly Verdict[]) {
    return this.store.changeFenced(fence, (transaction) => settle(transaction, verdicts));
  }

  discard(id: string) {
    return this.store.change((transaction) => discard(transaction, id));
  }

  prune(age: Micros) {
    return this.store.change((transaction) => pruneWrites(transaction, age));
  }

  park(fence: number, isParked: boolean) {
    return this.store.changeFenced(fence, (transaction) => parkWrites(transaction, isParked));
  }

  recover(device: DeviceId | undefined, writes: readonly SavedWrite[]) {
    const fresh = this.newDevice();
    return this.store.change((transaction) =>
      recoverWrites(transaction, { device, writes, fresh }),
    );
  }

  moveToNewDevice(fence: number) {
    return this.takeId(fence, moveToDevice);
  }

  resubmitAll(fence: number, epoch: Epoch) {
    return this.takeId(
      fence,
      (transaction, device) => resubmitAll(transaction, device, epoch),
      epoch,
    );
  }

  private takeId<T>(
    fence: number,
    take: (transaction: ReplicaTransaction, device: DeviceId) => StateChange<T>,
    epoch?: Epoch,
  ): Promise<T> {
    return this.store.changeFenced(fence, (transaction) => {
      const state = withIdTaken(transaction.state, this.options.clock(), epoch);
      return take({ ...transaction, state }, this.newDevice());
    });
  }

  private newDevice(): DeviceId {
    return hexOfBytes(this.options.random(16));
  }

  // --- what the hub says --------------------------------------------------------------------------

  takeFence() {
    return this.store.change(({ state }) => {
      const fence = state.fence + 1;
      return { value: fence, next: { ...state, fence } };
    });
  }

  applyWelcome(fence: number, welcome: Welcome, arrived: Micros) {
    const { hubTime, lastSeq, epoch, actor, idKey } = welcome;
    return this.store.changeFenced(fence, ({ state }) => {
      // If no write was unsent, the hub may move earlier times of later writes up to this one (`writesSince` in `hub/hello.ts`).
      const since = lastSeq === state.lastSeq ? hubTime - SYNC_LIMITS.nowAheadMicros : 0;
      // If this clock was ahead, `lastNow` is in the future. Later writes must not have to exceed it.
      const lastNow = Math.max(Math.min(state.lastNow, hubTime), since);
      const skew = hubTime - arrived;
      const next = { ...state, skew, lastNow, actor, idKey, epoch: state.epoch ?? epoch };
      return { value: next, next };
    });
  }

  async apply(fence: number, pulled: Pulled, asked?: RequestState): Promise<Applied> {
    const host = this.store.host();
    const { value } = await host.transactions.write((input) =>
      applyPull({ fence, asked }, pulled, input, host),
    );
    return value;
  }

  setSets(sets: readonly Pick<KeptSet, 'id' | 'query'>[]) {
    return this.store.change((transaction) => setKeptSets(transaction, sets));
  }

  fingerprint(set: KeptSet) {
    return this.store.read(({ writer }) => fingerprintOfSet(writer, set));
  }

  documentsInBuckets(set: KeptSet, buckets: readonly number[]) {
    return this.store.read(({ writer }) => documentsInBuckets(writer, set, buckets));
  }

  finishComparison(fence: number, since: number | undefined) {
    return this.store.changeFenced(fence, ({ state }) => {
      if (state.suspectSince !== since) return { value: state };
      const sets = state.sets.map((set) => ({ ...set, isInDoubt: false }));
      const next = { ...state, suspectSince: undefined, sets };
      return { value: next, next };
    });
  }

  lock(fence: number, isLocked: boolean) {
    return this.store.changeFenced<void>(fence, ({ state }) => ({
      value: undefined,
      next: { ...state, isLocked },
    }));
  }
}
