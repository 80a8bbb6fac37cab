/** How a page meets its worker, and what it learns of the database that the worker opens. */
import type { Persistence } from '../states.ts';
import type { QueryReply } from './query.ts';
import type { Settings } from './settings.ts';

/** Raised when anything below changes: a page and a worker of different builds refuse each other. */
export const PROTOCOL = 13;

/** What the worker answers to `HELLO`, once it can be called. */
export interface Ready {
  readonly type: 'burrow-ready';
  readonly protocol: number;
}
export interface Hello {
  readonly type: 'burrow-hello';
}
export const HELLO: Hello = { type: 'burrow-hello' };

export interface OpenOptions {
  readonly name: string;
  readonly settings: Settings;
  /** Of the same database, opened before by this page: secrets handed out then stay good. */
  readonly rootSecret: string | undefined;
  /** Likewise: only that one is opened. */
  readonly birth: string | undefined;
  /** What clients of the synced identity showed to the worker before this one. */
  readonly syncSecret: string | undefined;
  /** Name of a Web Lock that the worker takes before it answers: whoever gets it next knows that the worker is gone. */
  readonly aliveLock: string;
}

/** Data that was here is gone: the browser evicted it, or its files were lost. */
export interface LossData {
  /** All of it, or what was written last. */
  readonly kind: 'recreated' | 'rolled-back';
  /** Time of the newest commit known to have been here; undefined: of none. */
  readonly lastCommit: Date | undefined;
}

/** `deleted`: the database that this page had open is gone, and was not made anew. */
export type OpenReply = OpenedDatabase | { readonly deleted: string };

export interface OpenedDatabase {
  /** Mark of what is stored, made with it. */
  readonly birth: string;
  /** Undefined: the database is locked. Every call but `unlock`, `close` and `destroy` is refused. */
  readonly rootSecret: string | undefined;
  readonly persistence: Persistence;
  /** Reported at each open until it is acknowledged. */
  readonly loss: LossData | undefined;
}

/** A login: the secret of one, or who logs in, as wire JSON, and the password; `key`: of a client key, to ask the hub by. */
export type UnlockCall =
  | { readonly secret: string }
  | { readonly user: string; readonly password: string; readonly key?: string };

/** As of a query: `{"resource":{"secret":…}}`, without a secret for the password of a copy's owner, or `{"errors":[…]}`. */
export type UnlockReply = Pick<QueryReply, 'status' | 'body'>;
