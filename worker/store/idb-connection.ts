/** A connection to one database of IndexedDB. Dexie opens and upgrades it and knows the browsers' oddities; nothing opens by itself. */
import { Dexie } from 'dexie';
import { Refusal } from '../../src/errors.ts';
import { within } from './deadline.ts';
import { newerDatabase, refusalOf, said, TransactionFailure } from './idb-failure.ts';
import {
  FIRST_PACKED_VERSION,
  FIRST_VERSION,
  layoutOf,
  MOVING_LAYOUT,
  ROWS_LAYOUT,
  versionOf,
  type Layout,
} from './layouts.ts';
import type { InFlight } from './in-flight.ts';

/** How long transactions may take to end before a connection is closed all the same. */
const DRAIN_MS = 1000;

/** What another tab does to the database. */
export type Superseding = 'upgraded by another tab' | 'deleted by another tab';

export interface ConnectionEvents {
  /** Another tab upgrades the database, or deletes it; the connection has given way. */
  onSuperseded(by: Superseding): void;
}

export interface Connection {
  readonly idb: IDBDatabase;
  /** The browser has closed it: storage was cleared, or its process died. */
  readonly isLost: boolean;
  /** What it has given way to. */
  readonly superseded: Superseding | undefined;
  readonly inFlight: InFlight;
  /** Transactions under way may end, others do not begin. Resolves when they have, or after a second: it is closed then. */
  close(reason: () => Error): Promise<void>;
}

/** @throws Refusal `storage_blocked`, `storage_unavailable`; TransactionFailure with what the browser said */
export async function connect(
  name: string,
  layout: Layout,
  deadlineMs: number,
  inFlight: InFlight,
  events: ConnectionEvents,
  flip?: Flip,
): Promise<Connection> {
  let other: Layout | undefined;
  let flipFailed: { readonly reason: unknown } | undefined;
  const guard = guarded((tx, oldVersion) => {
    try {
      if (flip && oldVersion === versionOf(MOVING_LAYOUT)) flip(tx);
      else if (!mayUpgrade(layout, oldVersion)) other = layoutOf(oldVersion) ?? ROWS_LAYOUT;
    } catch (reason) {
      flipFailed = { reason };
    }
    return !other && !flipFailed;
  });
  const dexie = new Dexie(name, { autoOpen: false, cache: 'disabled', indexedDB: guard });
  dexie.version(layout.version).stores(layout.schema);
  const opening = opened(dexie, layout, flip);
  try {
    await within(deadlineMs, opening, blocked);
  } catch (reason) {
    // It may still open later, and would then stand in the way of others.
    opening.then(
      () => dexie.close(),
      () => undefined,
    );
    if (other) throw new MadeWith(other);
    const cause = said(flipFailed ? flipFailed.reason : reason);
    throw cause instanceof DOMException ? new TransactionFailure(cause, false) : refusalOf(cause);
  }
  // Dexie opens a newer layout as it is.
  const version = dexie.backendDB().version;
  if (version > versionOf(layout)) {
    dexie.close();
    const newer = layoutOf(version);
    throw newer ? new MadeWith(newer) : newerDatabase();
  }
  return connectionOf(dexie, inFlight, events);
}

function connectionOf(dexie: Dexie, inFlight: InFlight, events: ConnectionEvents): Connection {
  const connection = {
    idb: dexie.backendDB(),
    isLost: false,
    superseded: undefined as Superseding | undefined,
    inFlight,
    // WebKit never frees a connection that is closed, with its worker, amid a transaction.
    async close(reason: () => Error) {
      inFlight.refuseWaiting(reason);
      await inFlight.drain(DRAIN_MS);
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
    connection.superseded =
      newVersion === null ? 'deleted by another tab' : 'upgraded by another tab';
    events.onSuperseded(connection.superseded);
  });
  return connection;
}

/** What else the transaction does that makes a database of rows on the move a packed one. */
export type Flip = (tx: IDBTransaction) => void;

/** A database of rows becomes a packed one only by a flip, and one that is gone is not made anew by a move. What is packed may become packed otherwise. */
function mayUpgrade(layout: Layout, oldVersion: number): boolean {
  const isThere = oldVersion >= FIRST_VERSION;
  if (layout.version === MOVING_LAYOUT.version) return isThere;
  return layout.kind === 'rows' || !isThere || oldVersion >= FIRST_PACKED_VERSION;
}

/** @param mayGoOn returns false: what is stored stays as it is */
const guarded = (mayGoOn: (tx: IDBTransaction, oldVersion: number) => boolean): IDBFactory => ({
  open(...args) {
    const request = indexedDB.open(...args);
    // Ahead of Dexie's.
    request.addEventListener('upgradeneeded', (event) => {
      const tx = request.transaction;
      if (!tx || mayGoOn(tx, event.oldVersion)) return;
      event.stopImmediatePropagation();
      tx.abort();
    });
    return request;
  },
  deleteDatabase: (name) => indexedDB.deleteDatabase(name),
  databases: () => indexedDB.databases(),
  cmp: (...both) => indexedDB.cmp(...both),
});

/** A tab that has a database of rows open would give way to an upgrade that is taken back. */
async function opened(dexie: Dexie, layout: Layout, flip: Flip | undefined): Promise<unknown> {
  if (layout.kind === 'packed' && !flip) {
    const known = await indexedDB.databases?.().catch(() => []);
    const found = known?.find(({ name }) => name === dexie.name)?.version ?? 0;
    if (found < versionOf(layout) && !mayUpgrade(layout, found))
      throw new MadeWith(layoutOf(found) ?? ROWS_LAYOUT);
  }
  return dexie.open();
}

/**
 * A frozen tab may stand in the way, or nobody: WebKit takes its time for what is large, and says "blocked" of a connection whose last
 * transaction is not over yet.
 */
const DELETE_MS = 30_000;

/** Deletes a database that this tab has closed. @throws Refusal `storage_blocked`, `storage_unavailable` */
export async function deleteDatabase(name: string): Promise<void> {
  try {
    await within(DELETE_MS, new Dexie(name, { autoOpen: false }).delete(), blocked);
  } catch (reason) {
    throw refusalOf(said(reason));
  }
}

/** What is stored has the other layout. */
export class MadeWith extends Refusal {
  readonly layout: Layout;

  constructor(layout: Layout) {
    super(
      'storage_unavailable',
      `This database was made with the option store: '${layout.kind}'. Open it with that option, or delete it and start again.`,
    );
    this.layout = layout;
  }
}

export const blocked = (): Refusal =>
  new Refusal(
    'storage_blocked',
    'The database can be neither opened nor deleted because another tab blocks it. Close the other tabs of this app and try again. If it stays blocked, close this tab too and open the app again.',
  );
