/**
 * The replica: a device's copy of a hub's database. Its stored rows are what the hub has confirmed. Writes without a verdict are in the
 * outbox, each with its effects, and queries see those effects over the stored rows. Every change is one transaction of the store, so each
 * tab may have a replica object of its own.
 */
import { hexOfBytes } from '../../../codec/hex.ts';
import type { QueryAnswer, QueryRequest } from '../../../engine/host.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Micros } from '../../../values/value.ts';
import type { DatedDocument, DeviceId, Epoch } from '../../protocol/identifiers.ts';
import type { Pulled, Welcome } from '../../protocol/messages.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';
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
import {
  publicRecord,
  type KeptWrite,
  type SavedWrite,
  type WriteRecord,
} from '../state/outbox-record.ts';
import { readOutboxRow } from '../state/outbox-row.ts';
import { outboxRange, outboxRecords, outboxRows } from '../state/outbox-rows.ts';
import type { KeptSet, ReplicaState } from '../state/replica-state.ts';
import { readState, STATE } from '../state/state-row.ts';
import { adopt, type Introduction } from './adopt.ts';
import {
  LocalQueries,
  type LocalQueryOptions,
  type Submitted,
  type SubmitRequest,
} from './local-queries.ts';
import { ReplicaStore, requireState } from './replica-store.ts';

export class Replica {
  private readonly options: LocalQueryOptions;
  private readonly store: ReplicaStore;
  private readonly queries: LocalQueries;

  constructor(options: LocalQueryOptions) {
    this.options = options;
    this.store = new ReplicaStore(options);
    this.queries = new LocalQueries(options, this.store);
  }

  /** Undefined: this database is not a copy of a hub's. */
  state(): Promise<ReplicaState | undefined> {
    return this.store.read(({ writer }) => readState(writer.row(STATE)));
  }

  /** Makes an empty database a replica. @throws Refusal if it has a schema of its own, or belongs to another hub or identity */
  adopt(
    hub: string,
    { actor, epoch, idKey }: Introduction,
    device: DeviceId,
  ): Promise<ReplicaState> {
    return this.store.write((input) => adopt(input, { hub, actor, epoch, idKey, device }));
  }

  // --- queries ------------------------------------------------------------------------------------

  /** Reads, or submits a write, depending on the query. For callers that do not know about sync. */
  query(request: QueryRequest): Promise<QueryAnswer> {
    return this.queries.query(request);
  }

  /** Executes a read with the rights of the identity. It is not recorded. */
  read(request: SubmitRequest): Promise<QueryAnswer> {
    return this.queries.read(request);
  }

  /**
   * Executes a write on the data shown and stores it in the outbox, in one commit. A query that fails here is not stored; the answer has
   * its error.
   * @throws Refusal `connection_needed` if the query sets a password or makes a secret; `outbox_full`; `locked`
   */
  submit(request: SubmitRequest): Promise<Submitted> {
    return this.queries.submit(request);
  }

  // --- the outbox ---------------------------------------------------------------------------------

  /** Writes without a verdict, oldest first, within the bounds. */
  outgoing(bounds: PushBounds): Promise<readonly PushItem[]> {
    return this.store.read(({ writer }) => {
      const state = readState(writer.row(STATE));
      return state ? outgoingItems(writer, state, bounds) : [];
    });
  }

  /** All writes without a verdict, each with the id of the device, for the second copy of the outbox. */
  unsent(): Promise<readonly KeptWrite[]> {
    return this.store.read((input) => {
      const { device, era, settledSeq, lastSeq } = requireState(input);
      return outboxRows(input.writer, era, settledSeq + 1, lastSeq).map((row) => {
        const { item, note } = readOutboxRow(row);
        return { device, item, note };
      });
    });
  }

  writes(): Promise<readonly WriteRecord[]> {
    return this.store.read(({ writer }) => outboxRecords(writer, outboxRange()).map(publicRecord));
  }

  /** The writes in the outbox that have these ids. */
  writesById(ids: readonly string[]): Promise<readonly WriteRecord[]> {
    return this.store.read(({ writer }) => writesById(writer, ids).map(publicRecord));
  }

  /** Stores the verdicts that a push returned, except those known already. Returns the writes whose verdicts are new. */
  settle(fence: number, verdicts: readonly Verdict[]): Promise<readonly WriteRecord[]> {
    return this.store.changeFenced(fence, (transaction) => settle(transaction, verdicts));
  }

  /** Removes a write that has a verdict. @throws Refusal `not found`; `bad request` if it has no verdict */
  discard(id: string): Promise<void> {
    return this.store.change((transaction) => discard(transaction, id));
  }

  /**
   * Removes writes that were confirmed at least `age` before the latest commit of the hub that is known here. If the hub is restored from
   * an older backup, they cannot be submitted again. Returns how many were removed.
   */
  prune(age: Micros): Promise<number> {
    return this.store.change((transaction) => pruneWrites(transaction, age));
  }

  /** Marks writes as waiting for a login, or as no longer waiting. */
  park(fence: number, isParked: boolean): Promise<void> {
    return this.store.changeFenced(fence, (transaction) => parkWrites(transaction, isParked));
  }

  /**
   * Restores unsent writes after the copy was lost or reverted to an earlier state, under the same device id, so that none is executed
   * twice. Changes nothing if the outbox has other writes. If some are missing in between, the rest moves to a new device id. Returns how
   * many are missing.
   * @param device undefined: the writes are from earlier device ids of this user's copies. Those not in the outbox are appended, in order
   */
  recover(device: DeviceId | undefined, writes: readonly SavedWrite[]): Promise<number> {
    const fresh = this.newDevice();
    return this.store.change((transaction) =>
      recoverWrites(transaction, { device, writes, fresh }),
    );
  }

  /** Continues under a new device id, because the copy was cloned or has lost writes. Unsent writes are numbered from 1. */
  moveToNewDevice(fence: number): Promise<ReplicaState> {
    return this.takeId(fence, moveToDevice);
  }

  /** Submits all writes in the outbox that were not refused again, under a new device id, because the hub's history has changed. */
  resubmitAll(fence: number, epoch: Epoch): Promise<ReplicaState> {
    return this.takeId(
      fence,
      (transaction, device) => resubmitAll(transaction, device, epoch),
      epoch,
    );
  }

  private takeId(
    fence: number,
    take: (transaction: ReplicaTransaction, device: DeviceId) => StateChange<ReplicaState>,
    epoch?: Epoch,
  ): Promise<ReplicaState> {
    return this.store.changeFenced(fence, (transaction) => {
      const state = withIdTaken(transaction.state, this.options.clock(), epoch);
      return take({ ...transaction, state }, this.newDevice());
    });
  }

  private newDevice(): DeviceId {
    return hexOfBytes(this.options.random(16));
  }

  // --- what the hub says --------------------------------------------------------------------------

  /** Takes the fencing token. The syncer that had it stops at its next step. */
  takeFence(): Promise<number> {
    return this.store.change(({ state }) => {
      const fence = state.fence + 1;
      return { value: fence, next: { ...state, fence } };
    });
  }

  /** Stores what the hub said at hello. @param arrived time of arrival, by the clock of this device */
  applyWelcome(fence: number, welcome: Welcome, arrived: Micros): Promise<ReplicaState> {
    const { hubTime, lastSeq, actor, idKey } = welcome;
    return this.store.changeFenced(fence, ({ state }) => {
      // If no write was unsent, the hub may move earlier times of later writes up to this one (`writesSince` in `hub/hello.ts`).
      const since = lastSeq === state.lastSeq ? hubTime - SYNC_LIMITS.nowAheadMicros : 0;
      // If this clock was ahead, `lastNow` is in the future. Later writes must not have to exceed it.
      const lastNow = Math.max(Math.min(state.lastNow, hubTime), since);
      const skew = hubTime - arrived;
      const next = { ...state, skew, lastNow, actor, idKey };
      return { value: next, next };
    });
  }

  /** Applies the answer to a pull, and runs pending writes again if it affects them. @throws Fenced */
  async apply(fence: number, pulled: Pulled, asked?: RequestState): Promise<Applied> {
    const host = this.store.host();
    const { value } = await host.transactions.write((input) =>
      applyPull({ fence, asked }, pulled, input, host),
    );
    return value;
  }

  /** Sets to keep from now on, in order of priority. Documents of other sets are removed once the hub has resolved all new ones. */
  setSets(sets: readonly Pick<KeptSet, 'id' | 'query'>[]): Promise<ReplicaState> {
    return this.store.change((transaction) => setKeptSets(transaction, sets));
  }

  /** The fingerprint of the documents of a set on this device. */
  fingerprint(set: KeptSet): Promise<readonly string[]> {
    return this.store.read(({ writer }) => fingerprintOfSet(writer, set));
  }

  /** Documents of a set in these buckets, with the hub's times. */
  documentsInBuckets(set: KeptSet, buckets: readonly number[]): Promise<readonly DatedDocument[]> {
    return this.store.read(({ writer }) => documentsInBuckets(writer, set, buckets));
  }

  /**
   * Notes that the differences found by a comparison were repaired.
   * @param since `suspectSince` when the comparison began: if it has changed, another comparison is still due
   */
  finishComparison(fence: number, since: number | undefined): Promise<ReplicaState> {
    return this.store.changeFenced(fence, ({ state }) => {
      if (state.suspectSince !== since) return { value: state };
      const sets = state.sets.map((set) => ({ ...set, isInDoubt: false }));
      const next = { ...state, suspectSince: undefined, sets };
      return { value: next, next };
    });
  }

  /** Hides all data, or shows it again. @throws Fenced */
  lock(fence: number, isLocked: boolean): Promise<void> {
    return this.store.changeFenced<void>(fence, ({ state }) => ({
      value: undefined,
      next: { ...state, isLocked },
    }));
  }
}
