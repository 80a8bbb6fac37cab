/**
 * The replica: a device's copy of a hub's database. Its stored rows are what the hub has confirmed. Writes without a verdict are in the
 * outbox, each with its effects, and queries see those effects over the stored rows. Every change is one transaction of the store, so each
 * tab may have a replica object of its own.
 */
import type { WriteNote } from '../../../answers.ts';
import type { QueryAnswer, QueryRequest } from '../../../engine/host.ts';
import type { ApiVersion } from '../../../query/session.ts';
import type { Micros } from '../../../values/value.ts';
import type { DatedDocument, DeviceId, Epoch } from '../../protocol/identifiers.ts';
import type { Pulled, Welcome } from '../../protocol/messages.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';
import type { PushBounds } from '../outbox/find-writes.ts';
import type { Applied, RequestState } from '../pulled/apply-pull.ts';
import type { KeptWrite, SavedWrite, WriteRecord } from '../state/outbox-record.ts';
import type { KeptSet, ReplicaState } from '../state/replica-state.ts';

export interface Replica {
  /** Undefined: this database is not a copy of a hub's. */
  state(): Promise<ReplicaState | undefined>;
  /** Makes an empty database a replica. @throws Refusal if it has a schema of its own, or belongs to another hub or identity */
  adopt(hub: string, welcome: Introduction, device: DeviceId): Promise<ReplicaState>;

  /** Reads, or submits a write, depending on the query. For callers that do not know about sync. */
  query(request: QueryRequest): Promise<QueryAnswer>;
  /** Executes a read with the rights of the identity. It is not recorded. */
  read(request: SubmitRequest): Promise<QueryAnswer>;
  /**
   * Executes a write on the data shown and stores it in the outbox, in one commit. A query that fails here is not stored; the answer has
   * its error.
   * @throws Refusal `connection_needed` if the query sets a password or makes a secret; `outbox_full`; `locked`
   */
  submit(request: SubmitRequest): Promise<SubmittedWrite | { readonly failed: QueryAnswer }>;

  /** Writes without a verdict, oldest first, within the bounds. */
  outgoing(bounds: PushBounds): Promise<readonly PushItem[]>;
  /** All writes without a verdict, each with the id of the device, for the second copy of the outbox. */
  unsent(): Promise<readonly KeptWrite[]>;
  writes(): Promise<readonly WriteRecord[]>;
  /** The writes in the outbox that have these ids. */
  writesById(ids: readonly string[]): Promise<readonly WriteRecord[]>;
  /** Stores the verdicts that a push returned, except those known already. Returns the writes whose verdicts are new. */
  settle(fence: number, verdicts: readonly Verdict[]): Promise<readonly WriteRecord[]>;
  /** Removes a write that has a verdict. @throws Refusal `not found`; `bad request` if it has no verdict */
  discard(id: string): Promise<void>;
  /**
   * Removes writes that were confirmed at least `age` before the latest commit of the hub that is known here. If the hub is restored from
   * an older backup, they cannot be submitted again. Returns how many were removed.
   */
  prune(age: Micros): Promise<number>;
  /** Marks writes as waiting for a login, or as no longer waiting. */
  park(fence: number, isParked: boolean): Promise<void>;
  /**
   * Restores unsent writes after the copy was lost or reverted to an earlier state, under the same device id, so that none is executed
   * twice. Changes nothing if the outbox has other writes. If some are missing in between, the rest moves to a new device id. Returns how
   * many are missing.
   * @param device undefined: the writes are from earlier device ids of this user's copies. Those not in the outbox are appended, in order
   */
  recover(device: DeviceId | undefined, writes: readonly SavedWrite[]): Promise<number>;
  /**
   * Continues under a new device id, because the copy was cloned or has lost writes. Unsent writes are numbered from 1. Writes that no push
   * can contain are refused here, and returned.
   */
  moveToNewDevice(fence: number): Promise<readonly WriteRecord[]>;
  /** Submits all writes in the outbox that were not refused again, under a new device id, because the hub's history has changed. */
  resubmitAll(fence: number, epoch: Epoch): Promise<ReplicaState>;

  /** Takes the fencing token. The syncer that had it stops at its next step. */
  takeFence(): Promise<number>;
  /** Stores what the hub said at hello. @param arrived time of arrival, by the clock of this device */
  applyWelcome(fence: number, welcome: Welcome, arrived: Micros): Promise<ReplicaState>;
  /** Applies the answer to a pull, and runs pending writes again if it affects them. @throws Fenced */
  apply(fence: number, pulled: Pulled, asked?: RequestState): Promise<Applied>;
  /** Sets to keep from now on, in order of priority. Documents of other sets are removed once the hub has resolved all new ones. */
  setSets(sets: readonly Pick<KeptSet, 'id' | 'query'>[]): Promise<ReplicaState>;
  /** The fingerprint of the documents of a set on this device. */
  fingerprint(set: KeptSet): Promise<readonly string[]>;
  /** Documents of a set in these buckets, with the hub's times. */
  documentsInBuckets(set: KeptSet, buckets: readonly number[]): Promise<readonly DatedDocument[]>;
  /**
   * Notes that the differences found by a comparison were repaired.
   * @param since `suspectSince` when the comparison began: if it has changed, another comparison is still due
   */
  finishComparison(fence: number, since: number | undefined): Promise<ReplicaState>;
  /** Hides all data, or shows it again. @throws Fenced */
  lock(fence: number, isLocked: boolean): Promise<void>;
}

/** The part of a hello's answer that a new copy needs. */
export type Introduction = Pick<Welcome, 'actor' | 'epoch' | 'idKey'>;

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
