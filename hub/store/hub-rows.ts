/** Rows in the space `meta` that belong to the hub itself: epoch, hash of the root secret, keys, marks of a load or move. */
import { randomBytes } from 'node:crypto';
import { Refusal } from '../../src/errors.ts';
import { metaKey } from '../../src/codec/key.ts';
import type { ReadTx, Row, RowAddress, Store, WriteTx } from '../../src/store/port.ts';

const at = (name: string): RowAddress => ({ space: 'meta', key: metaKey(name) });

export const HUB_ROWS = {
  /** 32 hex digits, generated when the store is first opened and by each restore. Identifies the history of the hub. */
  epoch: at('epoch'),
  rootHash: at('root secret'),
  /** The key that signs URLs of log files. */
  urlKey: at('url key'),
  /** The key that checks ids of documents created on devices; `src/sync/hub/rows/id-key.ts` reads it. */
  idKey: at('id key'),
  /** Present while a load or move into this store is incomplete. */
  loading: at('loading'),
  /** Where the data were moved to. If present, hubs refuse to serve the data of this store. */
  moved: at('moved'),
  /** When the data were loaded from a dump. Absent if they were not. */
  restored: at('restored'),
} as const;

const META = { spaces: ['meta'], durability: 'strict' } as const;

export interface HubRows {
  readonly epoch: string;
  readonly rootHash: string | undefined;
  readonly urlKey: string;
  /** When the data were loaded from a dump, in ms since 1970; 0 if they were not. */
  readonly restoredMs: number;
}

export const newEpoch = (): string => randomBytes(16).toString('hex');

/** Whether a hub, or a load or move, has written to the store. */
export const hasHubRows = (store: Store): Promise<boolean> =>
  store.read(async (tx) => {
    const { rows } = await tx.fetch([HUB_ROWS.urlKey, HUB_ROWS.loading], []);
    return rows.some(Boolean);
  }, META);

/** Reads the rows and creates the missing ones. @throws Refusal when a load into this store is incomplete, or its data were moved */
export async function prepareHubRows(
  store: Store,
  rootHash: (stored: string | undefined) => string | undefined,
): Promise<HubRows> {
  const prepare = async (tx: ReadTx): Promise<Prepared> => rowsFor(await readRows(tx), rootHash);
  // Reads first: if no row is missing, nothing is written, so a full disk does not prevent opening.
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
  /** Rows that are missing or must be replaced. */
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

/** @returns where the data were moved to; undefined if they were not */
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

/** Marks a load as incomplete. The mark is removed when all rows are stored. */
export const markLoading = (tx: WriteTx): void =>
  tx.apply({ puts: [put(HUB_ROWS.loading, new Date().toISOString())], deletes: [] });
