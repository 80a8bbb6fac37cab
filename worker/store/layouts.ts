/** The object stores of databases, as declared to Dexie. IndexedDB's version is Dexie's version times ten: 20, 21 and 30 in the browser. */
import type { StampedStore } from './birth-stamp.ts';
import { ENTRY_INDEX } from './idb-rows.ts';

/** How a database is stored: `rows` as one IndexedDB row for each row, `packed` as a packed store with a log and blocks. */
export type StoreKind = 'rows' | 'packed';

export interface Layout {
  readonly kind: StoreKind;
  readonly version: number;
  readonly schema: Readonly<Record<string, string>>;
  /** All object stores of the layout that contain a stamp. */
  readonly stamped: readonly StampedStore[];
  /** The object store whose stamp identifies the database after a reconnect. Default: `meta`. */
  readonly witness?: string;
}

const LOG = { name: 'log', key: 'k' };
const FILES = { name: 'files', key: 'k' };
const META = { name: 'meta', key: 'k' };
const COMMITS = { name: 'commits', key: 'n' };
const BLOCKS = { name: 'blocks', key: 'i' };

export const ROWS_LAYOUT: Layout = {
  kind: 'rows',
  // Version 2 added `sync`.
  version: 2,
  schema: {
    documents: `k,*${ENTRY_INDEX}`,
    history: `k,*${ENTRY_INDEX}`,
    sync: 'k',
    meta: 'k',
    log: 'k',
    files: 'k',
  },
  stamped: [
    { name: 'documents', key: 'k' },
    { name: 'history', key: 'k' },
    { name: 'sync', key: 'k', isLater: true },
    META,
    LOG,
    FILES,
  ],
};

/**
 * The key generator of `commits` numbers the parts of the log. Query log and files are stored as rows; `meta` contains only the stamp.
 * The other object stores are empty. They are declared because older versions of the app declare them: if they were missing, Dexie would
 * add them when such a version opens the database, and so raise the database's version.
 */
export const PACKED_LAYOUT: Layout = {
  kind: 'packed',
  version: 3,
  schema: { ...ROWS_LAYOUT.schema, commits: '++n', blocks: 'i' },
  stamped: [COMMITS, BLOCKS, META, LOG, FILES],
};

/**
 * A database of rows that is being copied into a log and blocks, or whose copying could not be finished. The rows are still
 * authoritative. Other tabs that have the database open hold the lock of `layout-lock.ts`.
 */
export const MOVING_LAYOUT: Layout = {
  kind: 'rows',
  version: 2.1,
  schema: PACKED_LAYOUT.schema,
  stamped: ROWS_LAYOUT.stamped,
};

/** The log and blocks in a database that is being moved, as long as the rows are authoritative. */
export const STAGING_LAYOUT: Layout = {
  ...MOVING_LAYOUT,
  kind: 'packed',
  stamped: [COMMITS, BLOCKS],
  witness: BLOCKS.name,
};

/** From this version of IndexedDB on, a database is packed. */
export const FIRST_PACKED_VERSION = 30;

/** Format numbers of the stored data: of rows, and of log and blocks. See docs/store-format.md. */
export const ROWS_FORMAT = 1;
export const PACKED_FORMAT = 1;

/** IndexedDB's version is Dexie's version times this number. */
const VERSIONS = 10;

/** The layout's version in IndexedDB. */
export const versionOf = ({ version }: Layout): number => Math.round(version * VERSIONS);

/** A database with a lower version has no layout and is empty. */
export const FIRST_VERSION = VERSIONS;

/** Undefined when the version belongs to a newer version of the app. */
export const layoutOf = (version: number): Layout | undefined =>
  version < versionOf(ROWS_LAYOUT)
    ? ROWS_LAYOUT
    : [ROWS_LAYOUT, MOVING_LAYOUT, PACKED_LAYOUT].find((each) => versionOf(each) === version);
