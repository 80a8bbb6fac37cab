/** A connection to one database of IndexedDB. Dexie opens and upgrades it and knows the browsers' oddities; nothing opens by itself. */
import { Dexie } from 'dexie';
import { Refusal } from '../../src/errors.ts';
import { within } from './deadline.ts';
import { newerDatabase, refusalOf, said, TransactionFailure } from './idb-failure.ts';
import { LAYOUTS, type Layout, type StoreKind } from './layouts.ts';
import type { UnderWay } from './under-way.ts';

/** How long transactions may take to end before a connection is closed all the same. */
const DRAIN_MS = 1000;

/** Dexie's versions are so many of IndexedDB's. */
const VERSIONS = 10;

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
  layout: Layout,
  deadlineMs: number,
  underWay: UnderWay,
  events: ConnectionEvents,
): Promise<Connection> {
  let isOther = false;
  const noteOther = (): void => {
    isOther = true;
  };
  const own = layout.kind === 'packed' && { indexedDB: neverUpgrading(noteOther) };
  const dexie = new Dexie(name, { autoOpen: false, cache: 'disabled', ...own });
  dexie.version(layout.version).stores(layout.schema);
  const opening = opened(dexie, layout);
  try {
    await within(deadlineMs, opening, blocked);
  } catch (reason) {
    // It may still open later, and would then stand in the way of others.
    opening.then(
      () => dexie.close(),
      () => undefined,
    );
    if (isOther) throw new MadeWith('rows');
    const cause = said(reason);
    throw cause instanceof DOMException ? new TransactionFailure(cause, false) : refusalOf(cause);
  }
  // Dexie opens a newer layout as it is.
  const version = dexie.backendDB().version;
  if (version > layout.version * VERSIONS) {
    dexie.close();
    const other = LAYOUTS.find((each) => each.version * VERSIONS === version);
    throw other ? new MadeWith(other.kind) : newerDatabase();
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

/** Opens a database that is new or has the layout already: a database of rows stays as it is. */
const neverUpgrading = (onOther: () => void): IDBFactory => ({
  open(...asked) {
    const request = indexedDB.open(...asked);
    // Ahead of Dexie's.
    request.addEventListener('upgradeneeded', (event) => {
      if (event.oldVersion < VERSIONS) return;
      event.stopImmediatePropagation();
      onOther();
      request.transaction?.abort();
    });
    return request;
  },
  deleteDatabase: (name) => indexedDB.deleteDatabase(name),
  databases: () => indexedDB.databases(),
  cmp: (...both) => indexedDB.cmp(...both),
});

/** A tab that has a database of rows open would give way to an upgrade that is taken back. */
async function opened(dexie: Dexie, { kind, version }: Layout): Promise<unknown> {
  const known = kind === 'packed' ? await indexedDB.databases?.().catch(() => []) : undefined;
  const found = known?.find(({ name }) => name === dexie.name)?.version ?? Infinity;
  // Below it is of no layout, and empty.
  if (found < version * VERSIONS && found >= VERSIONS) throw new MadeWith('rows');
  return dexie.open();
}

/** Deletes a database that this tab has closed. @throws Refusal `storage_blocked`, `storage_unavailable` */
export async function deleteDatabase(name: string, deadlineMs: number): Promise<void> {
  try {
    await within(deadlineMs, new Dexie(name, { autoOpen: false }).delete(), blocked);
  } catch (reason) {
    throw refusalOf(said(reason));
  }
}

/** What is stored has the other layout. */
export class MadeWith extends Refusal {
  readonly kind: StoreKind;

  constructor(kind: StoreKind) {
    super(
      'storage_unavailable',
      `This database was made with the option store: '${kind}'. Open it with that option, or delete it and start again.`,
    );
    this.kind = kind;
  }
}

const blocked = (): Refusal =>
  new Refusal(
    'storage_blocked',
    'The database can be neither opened nor deleted because another tab blocks it. Close the other tabs of this app and try again. If it stays blocked, close this tab too and open the app again.',
  );
