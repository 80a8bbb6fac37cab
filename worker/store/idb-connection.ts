/** A connection to one database of IndexedDB. Dexie opens and upgrades it and knows the browsers' oddities; nothing opens by itself. */
import { Dexie } from 'dexie';
import { Refusal } from '../../src/errors.ts';
import { within } from './deadline.ts';
import { newerDatabase, refusalOf, said, TransactionFailure } from './idb-failure.ts';
import { ENTRY_INDEX } from './idb-rows.ts';
import type { UnderWay } from './under-way.ts';

/** 2: `sync` came to it. */
const LAYOUT_VERSION = 2;
const LAYOUT = {
  documents: `k,*${ENTRY_INDEX}`,
  history: `k,*${ENTRY_INDEX}`,
  sync: 'k',
  meta: 'k',
  log: 'k',
  files: 'k',
};

/** How long transactions may take to end before a connection is closed all the same. */
const DRAIN_MS = 1000;

export interface ConnectionEvents {
  /** Another tab upgrades the database, or deletes it; the connection has given way. */
  onSuperseded(by: 'upgrade' | 'deletion'): void;
}

export interface Connection {
  readonly idb: IDBDatabase;
  /** The browser has closed it: storage was cleared, or its process died. */
  readonly isLost: boolean;
  readonly underWay: UnderWay;
  /** Transactions under way may end, others do not begin. Resolves when they have, or after a second: it is closed then. */
  close(reason: () => Error): Promise<void>;
}

/** @throws Refusal `storage_blocked`, `storage_unavailable`; TransactionFailure with what the browser said */
export async function connect(
  name: string,
  deadlineMs: number,
  underWay: UnderWay,
  events: ConnectionEvents,
): Promise<Connection> {
  const dexie = new Dexie(name, { autoOpen: false, cache: 'disabled' });
  dexie.version(LAYOUT_VERSION).stores(LAYOUT);
  const opening = dexie.open();
  try {
    await within(deadlineMs, opening, blocked);
  } catch (reason) {
    // It may still open later, and would then stand in the way of others.
    opening.then(
      () => dexie.close(),
      () => undefined,
    );
    const cause = said(reason);
    throw cause instanceof DOMException ? new TransactionFailure(cause, false) : refusalOf(cause);
  }
  // Dexie opens a newer layout as it is. Its numbers are ours by ten.
  if (dexie.backendDB().version > LAYOUT_VERSION * 10) {
    dexie.close();
    throw newerDatabase();
  }
  const connection = {
    idb: dexie.backendDB(),
    isLost: false,
    underWay,
    // WebKit never frees a connection that is closed, with its worker, amid a transaction.
    async close(reason: () => Error) {
      underWay.refuseWaiting(reason);
      await underWay.drain(DRAIN_MS);
      dexie.close();
    },
  };
  connection.idb.addEventListener('close', () => {
    connection.isLost = true;
    dexie.close();
  });
  // Dexie's own handler would close too, and write to the console.
  connection.idb.onversionchange = null;
  connection.idb.addEventListener('versionchange', ({ newVersion }) => {
    dexie.close();
    events.onSuperseded(newVersion === null ? 'deletion' : 'upgrade');
  });
  return connection;
}

/** Deletes a database that this tab has closed. @throws Refusal `storage_blocked`, `storage_unavailable` */
export async function deleteDatabase(name: string, deadlineMs: number): Promise<void> {
  try {
    await within(deadlineMs, new Dexie(name, { autoOpen: false }).delete(), blocked);
  } catch (reason) {
    throw refusalOf(said(reason));
  }
}

const blocked = (): Refusal =>
  new Refusal(
    'storage_blocked',
    'The database can be neither opened nor deleted because another tab blocks it. Close the other tabs of this app and try again. If it stays blocked, close this tab too and open the app again.',
  );
