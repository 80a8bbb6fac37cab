/** Rows of the hub itself, in `meta`: its epoch, the hash of its root secret, the key that signs URLs, the mark of a load under way. */
import { randomBytes } from 'node:crypto';
import { Refusal } from '../../src/errors.ts';
import { metaKey } from '../../src/codec/key.ts';
import type { ReadTx, Row, RowAddress, Store, WriteTx } from '../../src/store/port.ts';

const at = (name: string): RowAddress => ({ space: 'meta', key: metaKey(name) });

export const HUB_ROWS = {
  /** 32 hex digits, made when the store is first opened, and again by a restore: nothing of another epoch is taken for ours. */
  epoch: at('epoch'),
  rootHash: at('root secret'),
  /** Signs URLs of log files. */
  urlKey: at('url key'),
  /** There while a load or move into this store is not finished. */
  loading: at('loading'),
  /** Where the data went: no hub serves them from here any more. */
  moved: at('moved'),
} as const;

/** `meta` is what queries look at: a few rows more there cost nothing, being read at start only. */
const META = { spaces: ['meta'], durability: 'strict' } as const;

export interface HubRows {
  readonly epoch: string;
  readonly rootHash: string | undefined;
  readonly urlKey: string;
}

export const newEpoch = (): string => randomBytes(16).toString('hex');

/** Reads them, and makes what is not there. @throws Refusal when a load into this store was cut off, or it was moved */
export async function prepareHubRows(
  store: Store,
  rootHash: (known: string | undefined) => string | undefined,
): Promise<HubRows> {
  return store.write(async (tx) => {
    const { epoch, rootHash: root, urlKey, loading, moved } = await readRows(tx);
    if (loading !== undefined)
      throw new Refusal(
        'storage_unavailable',
        'A load or move into this store was begun and not finished: its data are not whole. Run it again.',
      );
    if (moved !== undefined)
      throw new Refusal('storage_unavailable', `These data were moved to ${moved}.`);
    const rows = {
      epoch: epoch ?? newEpoch(),
      rootHash: rootHash(root),
      urlKey: urlKey ?? randomBytes(32).toString('base64url'),
    };
    const puts = [
      ...(epoch === undefined ? [put(HUB_ROWS.epoch, rows.epoch)] : []),
      ...(rows.rootHash === undefined || rows.rootHash === root
        ? []
        : [put(HUB_ROWS.rootHash, rows.rootHash)]),
      ...(urlKey === undefined ? [put(HUB_ROWS.urlKey, rows.urlKey)] : []),
    ];
    if (puts.length > 0) tx.apply({ puts, deletes: [] });
    return rows;
  }, META);
}

async function readRows(
  tx: ReadTx,
): Promise<Readonly<Record<keyof typeof HUB_ROWS, string | undefined>>> {
  const { epoch, rootHash, urlKey, loading, moved } = HUB_ROWS;
  const addresses = [epoch, rootHash, urlKey, loading, moved];
  const found = (await tx.fetch(addresses, [])).rows.map(textOf);
  return {
    epoch: found[0],
    rootHash: found[1],
    urlKey: found[2],
    loading: found[3],
    moved: found[4],
  };
}

const textOf = (row: Row | undefined): string | undefined =>
  typeof row?.value === 'string' ? row.value : undefined;

export const put = ({ space, key }: RowAddress, value: string) => ({
  space,
  row: { key, entries: [], value },
});

/** For tools that fill a store: the mark goes when all is there. */
export const markLoading = (tx: WriteTx): void =>
  tx.apply({ puts: [put(HUB_ROWS.loading, new Date().toISOString())], deletes: [] });
