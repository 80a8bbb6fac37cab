/** The hub's own rows in `meta`: epoch, hash of the root secret, keys, marks of a load or move. */
import { randomBytes } from 'node:crypto';
import { Refusal } from '../../src/errors.ts';
import { metaKey } from '../../src/codec/key.ts';
import type { ReadTx, Row, RowAddress, Store, WriteTx } from '../../src/store/port.ts';

const at = (name: string): RowAddress => ({ space: 'meta', key: metaKey(name) });

export const HUB_ROWS = {
  /** 32 hex digits, generated when the store is first opened and by each restore: tells histories of a hub apart. */
  epoch: at('epoch'),
  rootHash: at('root secret'),
  /** Signs URLs of log files. */
  urlKey: at('url key'),
  /** Checks ids of documents that devices made: `src/sync/hub/rows/id-key.ts` reads it. */
  idKey: at('id key'),
  /** Present while a load or move into this store is incomplete. */
  loading: at('loading'),
  /** Where the data were moved: no hub serves them from here any more. */
  moved: at('moved'),
  /** When the data were loaded from a dump, if they were. */
  restored: at('restored'),
} as const;

const META = { spaces: ['meta'], durability: 'strict' } as const;

export interface HubRows {
  readonly epoch: string;
  readonly rootHash: string | undefined;
  readonly urlKey: string;
  /** When the data were loaded from a dump, ms since 1970; 0 if they were not. */
  readonly restoredMs: number;
}

export const newEpoch = (): string => randomBytes(16).toString('hex');

/** Reads the rows, and creates those that are missing. @throws Refusal when a load into this store is incomplete, or it was moved */
export async function prepareHubRows(
  store: Store,
  rootHash: (stored: string | undefined) => string | undefined,
): Promise<HubRows> {
  const prepare = async (tx: ReadTx): Promise<Prepared> => rowsFor(await readRows(tx), rootHash);
  // A store that has them all may have no room for a write.
  const found = await store.read(prepare, META);
  if (found.puts.length === 0) return found.rows;
  return store.write(async (tx) => {
    const { rows, puts } = await prepare(tx);
    if (puts.length > 0) tx.apply({ puts, deletes: [] });
    return rows;
  }, META);
}

interface Prepared {
  readonly rows: HubRows;
  /** Those that are missing, or replaced. */
  readonly puts: readonly ReturnType<typeof put>[];
}

/** @throws Refusal */
function rowsFor(
  { epoch, rootHash: root, urlKey, idKey, loading, moved, restored }: StoredTexts,
  rootHash: (stored: string | undefined) => string | undefined,
): Prepared {
  requireLoaded(loading);
  if (moved !== undefined)
    throw new Refusal('storage_unavailable', `The data of this store was moved to ${moved}.`);
  const rows = {
    epoch: epoch ?? newEpoch(),
    rootHash: rootHash(root),
    urlKey: urlKey ?? randomBytes(32).toString('base64url'),
    restoredMs: restored === undefined ? 0 : Date.parse(restored),
  };
  const puts = [
    ...(epoch === undefined ? [put(HUB_ROWS.epoch, rows.epoch)] : []),
    ...(rows.rootHash === undefined || rows.rootHash === root
      ? []
      : [put(HUB_ROWS.rootHash, rows.rootHash)]),
    ...(urlKey === undefined ? [put(HUB_ROWS.urlKey, rows.urlKey)] : []),
    ...(idKey === undefined ? [put(HUB_ROWS.idKey, randomBytes(32).toString('hex'))] : []),
  ];
  return { rows, puts };
}

/** @throws Refusal when a load or move into the store is incomplete */
export const requireWhole = async (store: Store): Promise<void> =>
  requireLoaded((await store.read(readRows, META)).loading);

/** Where the data were moved, if they were. */
export const movedTo = async (store: Store): Promise<string | undefined> =>
  (await store.read(readRows, META)).moved;

function requireLoaded(loading: string | undefined): void {
  if (loading !== undefined)
    throw new Refusal(
      'storage_unavailable',
      'A load or move into this store was interrupted, so its data is incomplete: run the command again.',
    );
}

type StoredTexts = Readonly<Partial<Record<keyof typeof HUB_ROWS, string | undefined>>>;

async function readRows(tx: ReadTx): Promise<StoredTexts> {
  const { rows } = await tx.fetch(Object.values(HUB_ROWS), []);
  return Object.fromEntries(Object.keys(HUB_ROWS).map((name, at) => [name, textOf(rows[at])]));
}

const textOf = (row: Row | undefined): string | undefined =>
  typeof row?.value === 'string' ? row.value : undefined;

export const put = ({ space, key }: RowAddress, value: string) => ({
  space,
  row: { key, entries: [], value },
});

/** The mark is removed when all rows are stored. */
export const markLoading = (tx: WriteTx): void =>
  tx.apply({ puts: [put(HUB_ROWS.loading, new Date().toISOString())], deletes: [] });
