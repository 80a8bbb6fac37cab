/** The object stores of databases, as Dexie declares them. Dexie's versions are ours by ten: 20 and 30 in the browser. */
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
}

const LOG = { name: 'log', key: 'k' };
const FILES = { name: 'files', key: 'k' };
const META = { name: 'meta', key: 'k' };

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
  stamped: [{ name: 'commits', key: 'n' }, { name: 'blocks', key: 'i' }, META, LOG, FILES],
};

export const LAYOUTS: readonly Layout[] = [ROWS_LAYOUT, PACKED_LAYOUT];
