/**
 * The replica: what a device keeps of a hub's database. Stored rows are what the hub has confirmed; writes without a verdict are in the
 * outbox, each with its effects, and queries see those effects over the stored rows. Every change is one transaction of the store, so
 * each tab may have a replica of its own.
 */
import type { WriteNote } from '../../../answers.ts';
import type { QueryAnswer, QueryRequest } from '../../../engine/host.ts';
import type { ApiVersion } from '../../../query/session.ts';
import type { Micros } from '../../../values/value.ts';
import type { DatedDocument, DeviceId, Epoch } from '../../protocol/identifiers.ts';
import type { Pulled, Welcome } from '../../protocol/messages.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';
import type { PushBounds } from '../outbox/find-writes.ts';
import type { Applied, AskedFrom } from '../pulled/apply-pull.ts';
import type { KeptWrite, SavedWrite, WriteRecord } from '../state/outbox-record.ts';
import type { KeptSet, ReplicaState } from '../state/replica-state.ts';

export interface Replica {
  /** Undefined: this database is no copy of a hub's. */
  state(): Promise<ReplicaState | undefined>;
  /** Makes an empty database a replica. @throws Refusal when it has a schema of its own, or is of another hub or identity */
  adopt(hub: string, welcome: Introduction, device: DeviceId): Promise<ReplicaState>;

  /** Reads, or submits a write, depending on the query: for callers that do not know of sync. */
  query(request: QueryRequest): Promise<QueryAnswer>;
  /** Reads as the identity: nothing is recorded. */
  read(request: SubmitRequest): Promise<QueryAnswer>;
  /**
   * Runs a write on the data shown and keeps it in the outbox, in one commit. A query that fails here is not kept: its answer says why.
   * @throws Refusal `connection_needed` when it sets a password or makes a secret; `outbox_full`; `locked`
   */
  submit(request: SubmitRequest): Promise<SubmittedWrite | { readonly failed: QueryAnswer }>;

  /** Writes without a verdict, oldest first, within bounds. */
  outgoing(bounds: PushBounds): Promise<readonly PushItem[]>;
  /** All of them, each with the id of the device, for a second copy. */
  unsent(): Promise<readonly KeptWrite[]>;
  writes(): Promise<readonly WriteRecord[]>;
  /** Those of the ids that are in the outbox. */
  writesById(ids: readonly string[]): Promise<readonly WriteRecord[]>;
  /** Stores the verdicts that a push brought; those known already change nothing. Returns the writes whose verdicts are new. */
  settle(fence: number, verdicts: readonly Verdict[]): Promise<readonly WriteRecord[]>;
  /** @throws Refusal `not found`; `bad request` when it has no verdict */
  discard(id: string): Promise<void>;
  /**
   * Removes writes that were confirmed so long before the latest commit of the hub that is known here: a hub restored from an older copy
   * cannot be offered them again. How many.
   */
  prune(age: Micros): Promise<number>;
  /** Marks writes as waiting for a login, or as no longer waiting. */
  park(fence: number, isParked: boolean): Promise<void>;
  /**
   * Takes back unsent writes after the copy was lost or reverted to an earlier state: under the same device id, so that none is made
   * twice. Changes nothing when there are other writes here. When some are missing in between, the rest moves to another device id.
   * Returns how many are missing.
   * @param device undefined: those under other ids that copies of this user had; they follow what is here, in this order, but for those that are here
   */
  recover(device: DeviceId | undefined, writes: readonly SavedWrite[]): Promise<number>;
  /**
   * The copy was duplicated, or has forgotten writes: continues under a new device id, unsent writes numbered from 1. Those that no push
   * can carry are refused here, and returned.
   */
  moveToNewDevice(fence: number): Promise<readonly WriteRecord[]>;
  /** The hub has another history: all kept writes that it did not refuse are offered again under a new device id. It makes those it lacks. */
  resubmitAll(fence: number, epoch: Epoch): Promise<ReplicaState>;

  /** Takes the fencing token: the syncer that had it stops at its next step. */
  takeFence(): Promise<number>;
  /** Stores what the hub said at hello. @param arrived when, by the clock here */
  applyWelcome(fence: number, welcome: Welcome, arrived: Micros): Promise<ReplicaState>;
  /** Applies what a pull brought, and runs pending writes again where it affects them. @throws Fenced */
  apply(fence: number, pulled: Pulled, asked?: AskedFrom): Promise<Applied>;
  /** Sets to keep from now on, in order of priority. Documents of other sets are removed at once. */
  setSets(sets: readonly Pick<KeptSet, 'id' | 'query'>[]): Promise<ReplicaState>;
  /** Fingerprint of what is here of a set. */
  fingerprint(set: KeptSet): Promise<readonly string[]>;
  /** Documents of a set that fall into these buckets, with the hub's times. */
  documentsInBuckets(set: KeptSet, buckets: readonly number[]): Promise<readonly DatedDocument[]>;
  /**
   * Differences that a comparison found are repaired.
   * @param since `suspectSince` when it began: one that was asked for meanwhile is still due
   */
  finishComparison(fence: number, since: number | undefined): Promise<ReplicaState>;
  /** Hides all data, or shows it again. @throws Fenced */
  lock(fence: number, isLocked: boolean): Promise<void>;
}

/** What a copy begins with. */
export type Introduction = Pick<Welcome, 'actor' | 'epoch' | 'idKey'>;

export interface SubmitRequest {
  readonly query: string;
  readonly apiVersion: ApiVersion;
  readonly timeoutMs?: number | undefined;
  readonly isAbandoned?: () => boolean;
  /** Of a read, as in `QueryRequest`. */
  readonly minSnapshot?: Micros;
  /** The refused write that this one replaces: it is removed in the same commit. */
  readonly replaces?: string;
  /** What the app says of it: kept with it, and not sent. */
  readonly note?: WriteNote | undefined;
}

/** What is kept, for a second copy of it. */
export interface SubmittedWrite extends SavedWrite {
  readonly id: string;
  readonly device: DeviceId;
  /** What it did here. `undefined`: only the hub can run it, because it calls a function with a role of its own. */
  readonly answer: QueryAnswer | undefined;
}
