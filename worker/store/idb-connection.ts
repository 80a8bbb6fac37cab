/**
 * A connection to one IndexedDB database. Dexie opens and upgrades it and works around browser bugs. A connection is only opened
 * explicitly.
 */
import { Dexie } from 'dexie';
import { Refusal } from '../../src/errors.ts';
import { within } from './deadline.ts';
import {
  blockedOpening,
  newerDatabase,
  refusalOf,
  unwrapDexieError,
  TransactionFailure,
} from './idb-failure.ts';
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

/** How long opening may take, in ms. */
export const OPEN_DEADLINE_MS = 10_000;

/** How long to wait, in ms, for running transactions before the connection is closed anyway. */
const DRAIN_MS = 1000;

/** What another tab did to the database. */
export type Superseding = 'upgraded by another tab' | 'deleted by another tab';

export interface Connection {
  readonly idb: IDBDatabase;
  /** The browser has closed the connection: storage was cleared, or its process died. */
  readonly isLost: boolean;
  /** What another tab did that closed this connection. Undefined if it was not closed for another tab. */
  readonly superseded: Superseding | undefined;
  readonly inFlight: InFlight;
  /** Rejects transactions that have not begun, waits for the running ones, for at most one second, and closes the connection. */
  close(reason: () => Error): Promise<void>;
}

/**
 * Opens a database, until another tab upgrades or deletes it.
 * @throws Refusal `storage_blocked`, `storage_unavailable`; TransactionFailure with the browser's error
 */
export async function openDexie(
  name: string,
  layout: Layout,
  deadlineMs = OPEN_DEADLINE_MS,
  flip?: Flip,
): Promise<Dexie> {
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
    await within(deadlineMs, opening, blockedOpening);
  } catch (reason) {
    // The connection may still open later; it must be closed then, or it would block other tabs.
    opening.then(
      () => dexie.close(),
      () => undefined,
    );
    if (other) throw new OtherLayout(other);
    const cause = unwrapDexieError(flipFailed ? flipFailed.reason : reason);
    throw cause instanceof DOMException ? new TransactionFailure(cause, false) : refusalOf(cause);
  }
  // Dexie opens a database of a newer version without an error.
  const idb = dexie.backendDB();
  if (idb.version > versionOf(layout)) {
    dexie.close();
    const newer = layoutOf(idb.version);
    throw newer ? new OtherLayout(newer) : newerDatabase();
  }
  // Dexie's own handler would also close the connection, and would write to the console.
  idb.onversionchange = () => dexie.close();
  return dexie;
}

interface ConnectionEvents {
  /** The browser has closed the connection. */
  readonly onLost: () => void;
  /** Another tab upgrades or deletes the database, and this connection was closed to allow it. */
  readonly onSuperseded: (by: Superseding) => void;
}

export function connectionOf(
  dexie: Dexie,
  inFlight: InFlight,
  { onLost, onSuperseded }: ConnectionEvents,
): Connection {
  const connection = {
    idb: dexie.backendDB(),
    isLost: false,
    superseded: undefined as Superseding | undefined,
    inFlight,
    // WebKit never frees a connection that is closed, together with its worker, during a transaction. So `close` waits for transactions.
    async close(reason: () => Error) {
      inFlight.refuseWaiting(reason);
      await inFlight.drain(DRAIN_MS);
      dexie.close();
    },
  };
  connection.idb.addEventListener('close', () => {
    connection.isLost = true;
    onLost();
    dexie.close();
  });
  connection.idb.addEventListener('versionchange', ({ newVersion }) => {
    connection.superseded =
      newVersion === null ? 'deleted by another tab' : 'upgraded by another tab';
    onSuperseded(connection.superseded);
  });
  return connection;
}

/** Additional work in the upgrade transaction that turns a database of rows that is being moved into a packed one. */
export type Flip = (tx: IDBTransaction) => void;

/**
 * Whether an upgrade is allowed. A database of rows becomes packed only by a flip, and a move must not recreate a deleted database. A
 * packed database may be upgraded to a newer packed layout.
 */
function mayUpgrade(layout: Layout, oldVersion: number): boolean {
  const isThere = oldVersion >= FIRST_VERSION;
  if (layout.version === MOVING_LAYOUT.version) return isThere;
  return layout.kind === 'rows' || !isThere || oldVersion >= FIRST_PACKED_VERSION;
}

/** @param mayGoOn if it returns false, the upgrade is aborted and the database stays as it is */
const guarded = (mayGoOn: (tx: IDBTransaction, oldVersion: number) => boolean): IDBFactory => ({
  open(...args) {
    const request = indexedDB.open(...args);
    // Added before Dexie's listener, so it runs first.
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

/**
 * Checks the version before it opens a packed database: an upgrade request would close the connections of tabs that use the database as
 * rows, even though the upgrade is then aborted.
 */
async function opened(dexie: Dexie, layout: Layout, flip: Flip | undefined): Promise<unknown> {
  if (layout.kind === 'packed' && !flip) {
    const known = await indexedDB.databases?.().catch(() => []);
    const found = known?.find(({ name }) => name === dexie.name)?.version ?? 0;
    if (found < versionOf(layout) && !mayUpgrade(layout, found))
      throw new OtherLayout(layoutOf(found) ?? ROWS_LAYOUT);
  }
  return dexie.open();
}

/**
 * Deletion may take long because of a frozen tab, but not only then: WebKit is slow to delete large databases, and reports "blocked" for
 * a connection whose last transaction has not ended yet.
 */
const DELETE_MS = 30_000;

/** Deletes a database that this tab has closed. @throws Refusal `storage_blocked`, `storage_unavailable` */
export async function deleteDatabase(name: string): Promise<void> {
  try {
    await within(DELETE_MS, new Dexie(name, { autoOpen: false }).delete(), blockedOpening);
  } catch (reason) {
    throw refusalOf(unwrapDexieError(reason));
  }
}

/** The database is stored in the other layout. */
export class OtherLayout extends Refusal {
  readonly layout: Layout;

  constructor(layout: Layout) {
    super(
      'storage_unavailable',
      `This database was made with the option store: '${layout.kind}'. Open it with that option, or delete it and start again.`,
    );
    this.layout = layout;
  }
}
