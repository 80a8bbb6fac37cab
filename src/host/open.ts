/** The messages by which a page starts its worker, and the description of the opened database. */
import type { Persistence } from '../states.ts';
import type { QueryReply } from './query.ts';
import type { Settings } from './settings.ts';

/** Incremented whenever anything below changes: a page and a worker of different builds refuse each other. */
export const PROTOCOL = 14;

/** The worker's answer to `HELLO`, once it accepts calls. */
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
  /** The root secret of the same database, if this page has opened it before: it stays valid, so callers can go on using it. */
  readonly rootSecret: string | undefined;
  /** The birth mark of the database that this page has opened before: only that database is opened. */
  readonly birth: string | undefined;
  /** The secret of the synced identity's clients at the previous worker, which stays valid. */
  readonly syncSecret: string | undefined;
  /** Name of a Web Lock that the worker acquires before it answers. Whoever acquires the lock later knows that the worker has ended. */
  readonly aliveLock: string;
}

/** Data that was on this device is lost: the browser evicted it, or its files were lost. */
export interface LossData {
  /** `recreated`: all data is lost. `rolled-back`: the newest data is lost. */
  readonly kind: 'recreated' | 'rolled-back';
  /** Time of the newest commit known to have been on this device; undefined if none is known. */
  readonly lastCommit: Date | undefined;
}

/** `deleted`: the database that this page had open was deleted. It is not created anew. */
export type OpenReply = OpenedDatabase | { readonly deleted: string };

export interface OpenedDatabase {
  /** A mark that was stored when the database was created, and identifies it. */
  readonly birth: string;
  /** Undefined if the database is locked. Every call except `unlock`, `close` and `destroy` is refused then. */
  readonly rootSecret: string | undefined;
  readonly persistence: Persistence;
  /** Reported at each open until the app acknowledges it. */
  readonly loss: LossData | undefined;
}

/** A login: a secret, or a user (as wire JSON) with a password. `key`: secret of a client key, for asking the hub. */
export type UnlockCall =
  | { readonly secret: string }
  | { readonly user: string; readonly password: string; readonly key?: string };

/** As for a query: `{"resource":{"secret":…}}`, or `{"errors":[…]}`. After a login by password on a copy, the resource has no secret. */
export type UnlockReply = Pick<QueryReply, 'status' | 'body'>;
