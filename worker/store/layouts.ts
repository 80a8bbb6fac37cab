/** The object stores of databases, as Dexie declares them. Dexie's versions are ours by ten: 20, 21 and 30 in the browser. */
import type { StampedStore } from './birth-stamp.ts';
import { ENTRY_INDEX } from './idb-rows.ts';

/** What is stored how: `rows`, or a packed store in a log and blocks. */
export type StoreKind = 'rows' | 'packed';

export interface Layout {
  readonly kind: StoreKind;
  readonly version: number;
  readonly schema: Readonly<Record<string, string>>;
  /** All of its object stores. */
  readonly stamped: readonly StampedStore[];
  /** The object store whose stamp shows what a connection leads to; absent: `meta`. */
  readonly witness?: string;
}

const LOG = { name: 'log', key: 'k' };
const FILES = { name: 'files', key: 'k' };
const META = { name: 'meta', key: 'k' };
const COMMITS = { name: 'commits', key: 'n' };
const BLOCKS = { name: 'blocks', key: 'i' };

export const ROWS_LAYOUT: Layout = {
  kind: 'rows',
  // 2: `sync` came to it.
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
 * The key generator of `commits` numbers the parts of the log. Query log and files are rows; `meta` has the stamp alone. The others
 * are empty: to a database that lacks what an older version of the app declares, Dexie would add it there, as yet another version.
 */
export const PACKED_LAYOUT: Layout = {
  kind: 'packed',
  version: 3,
  schema: { ...ROWS_LAYOUT.schema, commits: '++n', blocks: 'i' },
  stamped: [COMMITS, BLOCKS, META, LOG, FILES],
};

/**
 * Rows that are being copied into a log and blocks, or have been when that could not be finished: the rows are what counts. Other
 * tabs that have it open hold the lock of `layout-lock.ts`.
 */
export const MOVING_LAYOUT: Layout = {
  kind: 'rows',
  version: 2.1,
  schema: PACKED_LAYOUT.schema,
  stamped: ROWS_LAYOUT.stamped,
};

/** The log and the blocks in it, as long as they do not count. */
export const STAGING_LAYOUT: Layout = {
  ...MOVING_LAYOUT,
  kind: 'packed',
  stamped: [COMMITS, BLOCKS],
  witness: BLOCKS.name,
};

/** From this version on a database is packed. */
export const FIRST_PACKED_VERSION = 30;

/** Of what is stored in rows, and in a log and blocks; see docs/store-format.md. */
export const ROWS_FORMAT = 1;
export const PACKED_FORMAT = 1;

/** Dexie's versions are so many of IndexedDB's. */
const VERSIONS = 10;

/** In IndexedDB. */
export const versionOf = ({ version }: Layout): number => Math.round(version * VERSIONS);

/** Below it a database is of no layout, and empty. */
export const FIRST_VERSION = VERSIONS;

/** Undefined: it is of a newer version of the app. */
export const layoutOf = (version: number): Layout | undefined =>
  version < versionOf(ROWS_LAYOUT)
    ? ROWS_LAYOUT
    : [ROWS_LAYOUT, MOVING_LAYOUT, PACKED_LAYOUT].find((each) => versionOf(each) === version);
