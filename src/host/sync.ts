/** The copy of a hub's database, in the form in which page and worker exchange it. */
import type { WriteNote } from '../answers.ts';
import type { SyncState, PendingState, VerdictState } from '../states.ts';
import type { FileProgress } from './files.ts';
import type { QueryCall, QueryReply } from './query.ts';

/** Has either `secret` or `login`; without both, the identity of the last sync is used. */
export interface SyncCall {
  readonly url: string;
  readonly secret: string | undefined;
  readonly login:
    | {
        /** Wire JSON. */
        readonly user: string;
        readonly password: string;
        /** Secret of a client key. */
        readonly key: string;
      }
    | undefined;
  /** Wire JSON, the most urgent first. */
  readonly sets: readonly string[];
}
export interface SyncReply {
  /** The secret that clients of the synced identity send. Valid in this worker only. */
  readonly secret: string;
  readonly state: SyncState;
  /** Set if the login failed: the answer of the hub, or of the device in its place. */
  readonly failed: { readonly status: number; readonly body: string } | undefined;
  /** Number of earlier writes that were lost with the database and are not in the second copy of the outbox either. */
  readonly missing: number;
}

export interface SubmitCall extends Pick<QueryCall, 'number' | 'query'> {
  readonly note: WriteNote | undefined;
}

export type SubmitReply =
  | {
      readonly id: string;
      /** Undefined if only the hub can execute the write. */
      readonly answer: QueryReply | undefined;
    }
  /** The write failed on this device and was not stored. */
  | { readonly id: undefined; readonly answer: QueryReply };

export interface SyncWait {
  readonly for: 'synced' | 'settled';
  /** Wire JSON of one set. */
  readonly set: string | undefined;
}

interface MadeWrite {
  readonly id: string;
  readonly madeMicros: number;
  /** Wire JSON. */
  readonly query: string;
  /** Id of the refused write that this write replaces. */
  readonly replaces: string | undefined;
  readonly note?: WriteNote | undefined;
}

export interface PendingData extends MadeWrite {
  readonly state: PendingState;
  /** `refused`: the write fails on the data that has arrived from the hub, so the hub will probably refuse it. */
  readonly predicted: 'refused' | undefined;
}

export interface JudgedData extends MadeWrite {
  readonly state: VerdictState;
  /** Time by the hub's clock, in µs. */
  readonly ts: number;
  /** As for a query; undefined if it was too long to be stored. */
  readonly body: string | undefined;
}

/** A write of this device. */
export type WriteData = PendingData | JudgedData;

export type WriteChoice =
  | { readonly discard: true }
  | { readonly retry: true }
  | { readonly edit: string };

/** Why the hub does not serve a set. */
export interface SetError {
  readonly code: string;
  readonly description: string;
}

export interface SyncProgress {
  readonly sets: readonly {
    /** Wire JSON. */
    readonly set: string;
    /** Number of documents that have arrived; `of` is the number of all, if it is known. */
    readonly rows: number;
    readonly of: number | undefined;
    readonly error: SetError | undefined;
  }[];
  readonly bytes: number;
  /** Estimated time until all sets are loaded, ms; undefined if none is being loaded, or the hub gives no total. */
  readonly remainingMs: number | undefined;
  /** Number of writes without a verdict. */
  readonly pending: number;
  /** How long the oldest of them has been waiting, ms. */
  readonly oldestPendingMs: number;
}

export type SyncMessage =
  | {
      readonly type: 'sync-state';
      readonly state: SyncState;
      readonly reason: string | undefined;
    }
  | { readonly type: 'sync-verdict'; readonly write: JudgedData }
  | { readonly type: 'sync-progress'; readonly progress: SyncProgress }
  | { readonly type: 'sync-file'; readonly progress: FileProgress };
