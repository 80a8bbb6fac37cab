/**
 * The replica: what a device keeps of a hub's database. Stored rows are what the hub has confirmed; writes that have no verdict
 * yet stand in the outbox, each with its effects, and what queries see is those effects over the stored rows. Every change of it is
 * one transaction of the store, so tabs may have a replica each.
 */
import type { QueryAnswer, QueryRequest } from '../../../engine/api.ts';
import type { ApiVersion } from '../../../query/session.ts';
import type { Micros } from '../../../values/value.ts';
import type { Actor, Pulled, Welcome } from '../../protocol/messages.ts';
import type { DeviceId, DocumentName, Epoch } from '../../protocol/identifiers.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';
import type { SetPart } from '../../protocol/sets.ts';

/** Where a write is on its way. `parked`: it waits for a login; it is not lost. */
export type WriteState = 'local' | 'pushed' | 'confirmed' | 'amended' | 'refused' | 'parked';

/** A write of this device, for ever to be found until the app has done with it. */
export interface WriteRecord {
  /** The number it was made under, `era.seq`: its own for ever, also when it goes on under another number. */
  readonly id: string;
  /** Which id of the device it goes under now; its number there is in `item`. */
  readonly era: number;
  readonly item: PushItem;
  readonly state: WriteState;
  /** When it was made here, µs. */
  readonly at: Micros;
  /** What it answered here; undefined when it was not run here. */
  readonly local: { readonly status: number; readonly body: string } | undefined;
  readonly verdict: Verdict | undefined;
  /** Running it again over what came from the hub failed: it will probably be refused. */
  readonly predicted: 'refused' | undefined;
  /** The id of the refused one that it was made from. */
  readonly replaces: string | undefined;
}

export interface ReplicaSet {
  readonly id: string;
  /** Wire JSON text. */
  readonly query: string;
  /** As the hub resolved it; undefined before it has. */
  readonly parts: readonly SetPart[] | undefined;
  readonly loaded: readonly (string | undefined)[] | 'nothing';
  /** Documents that came with its pages, and how many there will be. */
  readonly rows: number;
  readonly of: number | undefined;
  readonly error: { readonly code: string; readonly description: string } | undefined;
}

/** The one row that says what this replica is of, and how far it has come. */
export interface ReplicaState {
  readonly hub: string;
  readonly device: DeviceId;
  /** How many ids this copy has had: numbers of writes begin anew with each. */
  readonly era: number;
  readonly epoch: Epoch | undefined;
  readonly cursor: Micros | undefined;
  /** Came with the latest answer that is stored. */
  readonly token: string | undefined;
  /** Token of the latest answer that asked for a comparison of what is here with what the hub says; undefined: none is due. */
  readonly suspectSince: string | undefined;
  /** Parts of a pull that wait for the last one, and where to ask on. */
  readonly staged: { readonly cursor: Micros; readonly parts: number } | undefined;
  readonly schema: string | undefined;
  readonly actor: Actor | undefined;
  /** In order of priority. */
  readonly sets: readonly ReplicaSet[];
  /** Number of the latest write. */
  readonly lastSeq: number;
  /** Up to here writes are in the stored rows, or refused: none of them is shown from the outbox. */
  readonly shownSeq: number;
  /** Verdicts up to here are kept. */
  readonly settledSeq: number;
  /** The hub's clock minus this device's, µs. */
  readonly skew: Micros;
  /** `Now()` of the latest write: that of the next is later. */
  readonly lastNow: Micros;
  /** Characters in writes without a verdict. */
  readonly outboxSize: number;
  /** The credential was withdrawn: nothing is shown until somebody logs in. */
  readonly isLocked: boolean;
  /** Raised by each syncer that takes over: one that was frozen finds another number here and stops. */
  readonly fence: number;
  /** Raised whenever shown writes change otherwise than by one more: views are built anew. */
  readonly generation: number;
}

/** Whether a pull answers the question that this state asks. */
export const isAnswerTo = ({ after }: Pulled, { token }: ReplicaState): boolean => after === token;

export interface Submitted {
  readonly id: string;
  /** What is kept, for a second copy of it. */
  readonly device: DeviceId;
  readonly item: PushItem;
  /** What it did here. `undefined`: it runs at the hub only (it calls a function with rights of its own). */
  readonly answer: QueryAnswer | undefined;
}

export interface SubmitRequest {
  readonly query: string;
  readonly apiVersion: ApiVersion;
  readonly timeoutMs?: number;
  /** The refused write in whose place it is made: that one is gone with the same commit. */
  readonly replaces?: string;
}

export interface Replica {
  /** Undefined: this database is of no hub. */
  state(): Promise<ReplicaState | undefined>;
  /** Makes an empty database a replica. @throws Refusal when it holds a schema of its own, or is of another hub or identity */
  adopt(hub: string, actor: Actor, epoch: Epoch, device: DeviceId): Promise<ReplicaState>;
  /** Reads, or submits, by what the query may do: for callers that know nothing of sync. */
  query(request: QueryRequest): Promise<QueryAnswer>;
  /** Reads as the identity: nothing is recorded. */
  read(request: SubmitRequest): Promise<QueryAnswer>;
  /**
   * Runs a write over what is shown and keeps it in the outbox, in one commit. A query that fails here is not kept: its answer says why.
   * @throws Refusal `connection_needed` when it sets a password or makes a secret; `outbox_full`; `locked`
   */
  submit(request: SubmitRequest): Promise<Submitted | { readonly failed: QueryAnswer }>;
  /** Writes without a verdict, oldest first, as far as they fit. */
  outgoing(limits: {
    readonly count: number;
    readonly bytes: number;
  }): Promise<readonly PushItem[]>;
  writes(states?: readonly WriteState[]): Promise<readonly WriteRecord[]>;
  /** Those of these that are there. */
  find(ids: readonly string[]): Promise<readonly WriteRecord[]>;
  /** What a push or pull brought; those known already change nothing. Returns the new ones. */
  settle(fence: number, verdicts: readonly Verdict[]): Promise<readonly WriteRecord[]>;
  /**
   * Takes over what a pull brought, and runs what is still pending again: one commit.
   * @param asked the sets it was asked for; when others are wanted by now, or the answer is to an earlier state than this, nothing is taken over
   * @throws Fenced
   */
  apply(
    fence: number,
    pulled: Pulled,
    asked?: readonly Pick<ReplicaSet, 'id' | 'query'>[],
  ): Promise<Applied>;
  /**
   * What was found to differ has been put right.
   * @param since `suspectSince` when the comparison began: one that was asked for meanwhile is still due
   */
  checked(fence: number, since: string | undefined): Promise<ReplicaState>;
  /** Takes the fence: whoever had it stops at its next step. */
  takeFence(): Promise<number>;
  /** Sets to keep a copy of from now on, by priority. What only others held goes at once. */
  setSets(sets: readonly { readonly id: string; readonly query: string }[]): Promise<ReplicaState>;
  /** Fingerprint of what is here of a set. */
  fingerprint(set: ReplicaSet): Promise<readonly string[]>;
  /** Documents here that fall into these buckets of a set, with the hub's times. */
  documentsIn(
    set: ReplicaSet,
    buckets: readonly number[],
  ): Promise<readonly (readonly [...DocumentName, Micros])[]>;
  /**
   * Takes up again what a copy had not sent before it was lost, or put back to an earlier state: under its id, so that nothing is made
   * twice. Changes nothing when there are other writes here. Where some between them are missing it goes on under another id. Returns how
   * many are missing.
   */
  restore(device: DeviceId, items: readonly PushItem[]): Promise<number>;
  /** The copy was copied, or has forgotten: goes on under a new id, writes without a verdict numbered anew. */
  rename(fence: number): Promise<ReplicaState>;
  /**
   * The hub has another history: all writes that are kept, but those it refused, are offered again under a new id. It makes those it lacks,
   * and answers for the others as it did.
   */
  reenter(fence: number, epoch: Epoch): Promise<ReplicaState>;
  park(fence: number, isParked: boolean): Promise<void>;
  /** @throws Refusal `invalid_option` when there is no such write, or it has no such choice */
  discard(id: string): Promise<void>;
  /** Forgets confirmed writes made before that time: a hub restored from an older copy cannot be offered them again. How many. */
  prune(before: Micros): Promise<number>;
  /** Hides everything, or shows it again. */
  lock(isLocked: boolean): Promise<void>;
  /** What the hub said at hello. */
  greet(fence: number, welcome: Welcome, arrived: Micros): Promise<ReplicaState>;
}

export interface Applied {
  readonly state: ReplicaState;
  /** Documents stored or removed. */
  readonly documents: number;
  readonly bytes: number;
  /** Verdicts that came with it and were new. */
  readonly settled: readonly WriteRecord[];
}

/** Another syncer has taken over. */
export class Fenced extends Error {}
