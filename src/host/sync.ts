/** The copy of a hub's database, as page and worker speak of it. */
import type { WriteNote } from '../answers.ts';
import type { SyncState, PendingState, VerdictState } from '../states.ts';
import type { FileProgress } from './files.ts';
import type { QueryCall, QueryReply } from './query.ts';

/** One of `secret` and `login`; neither: the identity of last time. */
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
  /** Wire JSON, by priority. */
  readonly sets: readonly string[];
}
export interface SyncReply {
  /** What clients of the synced identity show. Good in this worker only. */
  readonly secret: string;
  readonly state: SyncState;
  /** The login failed: what the hub, or the device in its place, answered. */
  readonly failed: { readonly status: number; readonly body: string } | undefined;
  /** Writes of before that were lost with the database, and are not in the second copy either. */
  readonly missing: number;
}

export interface SubmitCall extends Pick<QueryCall, 'number' | 'query'> {
  readonly note: WriteNote | undefined;
}

export type SubmitReply =
  | {
      readonly id: string;
      /** Undefined: only the hub can run it. */
      readonly answer: QueryReply | undefined;
    }
  /** It failed here, and is not kept. */
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
  /** The id of the refused write in whose place it was made. */
  readonly replaces: string | undefined;
  readonly note?: WriteNote | undefined;
}

export interface PendingData extends MadeWrite {
  readonly state: PendingState;
  /** Over what has come from the hub it fails: it will probably be refused. */
  readonly predicted: 'refused' | undefined;
}

export interface JudgedData extends MadeWrite {
  readonly state: VerdictState;
  /** The hub's time. */
  readonly tsMicros: number;
  /** As of a query; undefined: it was too long to be kept. */
  readonly body: string | undefined;
}

/** A write of this device. */
export type WriteData = PendingData | JudgedData;

export type WriteChoice =
  | { readonly discard: true }
  | { readonly retry: true }
  | { readonly edit: string };

/** Why the hub does not give a set. */
export interface SetError {
  readonly code: string;
  readonly description: string;
}

export interface SyncProgress {
  readonly sets: readonly {
    /** Wire JSON. */
    readonly set: string;
    /** Documents that have come, and how many there are, where that is known. */
    readonly rows: number;
    readonly of: number | undefined;
    readonly error: SetError | undefined;
  }[];
  readonly bytes: number;
  /** Until all sets are loaded, about; undefined: none is loading, or the hub gives no total. */
  readonly remainingMs: number | undefined;
  /** Writes without a verdict. */
  readonly pending: number;
  /** How long the oldest of them has waited. */
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
