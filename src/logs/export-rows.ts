/** Rows of exports in the space `files`: export requests, idempotency tokens, chunks of finished files. */
import type { LogRequestRecord, LogState } from '../answers.ts';
import { metaKey, type Key } from '../codec/key.ts';
import { metaRange } from '../codec/ranges.ts';
import type { Range, Row, RowAddress, Store, WriteTx } from '../store/port.ts';
import { scan } from '../store/scan.ts';
import type { Micros } from '../values/value.ts';
import type { ExportRequest } from './export-request.ts';

/** An export request as it is stored, in JSON. */
export interface ExportRow {
  readonly id: string;
  readonly state: LogState;
  readonly version: number;
  readonly created: Micros;
  readonly updated: Micros;
  readonly wish: ExportRequest;
  /** Fencing number: the latest attempt owns the request, and writes of earlier attempts fail. */
  readonly attempt: number;
  readonly chunks: number;
  readonly bytes: number;
  readonly url?: { readonly signature: string; readonly expires: Micros };
  /** The key under which its idempotency token is stored. */
  readonly token?: string;
}

/** Transactions of exports use only the space `files`, so queries do not wait for them. */
const FILES = { durability: 'strict', spaces: ['files'] } as const;

const requestAddress = (id: string): RowAddress => ({
  space: 'files',
  key: metaKey(`request/${id}`),
});
const tokenAddress = (token: string): RowAddress => ({
  space: 'files',
  key: metaKey(`token/${token}`),
});
const chunkKey = (id: string, attempt: number, index: number): Key =>
  metaKey(`chunk/${id}/${padded(attempt)}/${padded(index)}`);
const padded = (number: number): string => String(number).padStart(8, '0');

const under = (name: string, limit: number, rows: boolean): Range =>
  scan('files', metaRange(name), { limit, rows });

const rowOf = (address: RowAddress, value: string | Uint8Array): Row => ({
  key: address.key,
  entries: [],
  value,
});

const parseRow = (row: Row | undefined): ExportRow | undefined =>
  typeof row?.value === 'string' ? (JSON.parse(row.value) as ExportRow) : undefined;

/** Maximum number of stored requests. */
export const REQUESTS_MAX = 200;

/** All export requests, oldest first. */
export async function readRequests(store: Store): Promise<readonly ExportRow[]> {
  const range = under('request', REQUESTS_MAX * 2, true);
  const [entries = []] = (await store.read((tx) => tx.fetch([], [range]), FILES)).ranges;
  return entries.map(({ row }) => parseRow(row)).filter((row) => row !== undefined);
}

export async function readRequest(store: Store, id: string): Promise<ExportRow | undefined> {
  const found = await store.read((tx) => tx.fetch([requestAddress(id)], []), FILES);
  return parseRow(found.rows[0]);
}

const TOKEN_LIFE_MICROS = 24 * 3600 * 1_000_000;

/** Stores a new request, or returns the request that was stored with the same token in the last 24 hours. */
export function addRequest(store: Store, row: ExportRow): Promise<ExportRow> {
  return store.write(async (tx) => {
    const earlier =
      row.token === undefined ? undefined : await requestOfToken(tx, row.token, row.created);
    if (earlier) return earlier;
    const puts = [put(requestAddress(row.id), JSON.stringify(row))];
    if (row.token !== undefined) {
      const value = JSON.stringify({ id: row.id, created: row.created });
      puts.push(put(tokenAddress(row.token), value));
    }
    tx.apply({ puts, deletes: [] });
    return row;
  }, FILES);
}

const put = (address: RowAddress, value: string | Uint8Array) => ({
  space: address.space,
  row: rowOf(address, value),
});

async function requestOfToken(
  tx: WriteTx,
  token: string,
  now: Micros,
): Promise<ExportRow | undefined> {
  const [row] = (await tx.fetch([tokenAddress(token)], [])).rows;
  if (typeof row?.value !== 'string') return undefined;
  const known = JSON.parse(row.value) as { readonly id: string; readonly created: Micros };
  if (now - known.created >= TOKEN_LIFE_MICROS) return undefined;
  return parseRow((await tx.fetch([requestAddress(known.id)], [])).rows[0]);
}

/** Updates a request. Undefined if another process has changed it in the meantime. */
export function advance(
  store: Store,
  from: ExportRow,
  change: Partial<ExportRow> & Pick<ExportRow, 'updated'>,
): Promise<ExportRow | undefined> {
  return store.write(async (tx) => {
    if (!(await isStill(tx, from))) return undefined;
    const row = { ...from, ...change };
    tx.apply({ puts: [put(requestAddress(row.id), JSON.stringify(row))], deletes: [] });
    return row;
  }, FILES);
}

async function isStill(tx: WriteTx, row: ExportRow): Promise<boolean> {
  const current = parseRow((await tx.fetch([requestAddress(row.id)], [])).rows[0]);
  return (
    current?.attempt === row.attempt &&
    current.state === row.state &&
    current.version === row.version
  );
}

/** Stores a chunk. False if another attempt owns the request. */
export function addChunk(
  store: Store,
  owner: ExportRow,
  index: number,
  bytes: Uint8Array,
): Promise<boolean> {
  return store.write(async (tx) => {
    if (!(await isStill(tx, owner))) return false;
    const address: RowAddress = { space: 'files', key: chunkKey(owner.id, owner.attempt, index) };
    tx.apply({ puts: [put(address, bytes)], deletes: [] });
    return true;
  }, FILES);
}

/** Reads the file, one chunk at a time. */
export async function* readChunks(store: Store, row: ExportRow): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < row.chunks; index += 1) {
    const address: RowAddress = { space: 'files', key: chunkKey(row.id, row.attempt, index) };
    const value = (await store.read((tx) => tx.fetch([address], []), FILES)).rows[0]?.value;
    // Without the error, an incomplete file would look complete.
    if (!(value instanceof Uint8Array))
      throw new Error(`Chunk ${index} of export ${row.id} is missing.`);
    yield value;
  }
}

const REMOVED_AT_ONCE = 16;

/** Removes the chunks of all attempts, or only of attempts before `attempt`, a few per transaction. */
export async function removeChunks(store: Store, id: string, attempt?: number): Promise<void> {
  const all = under(`chunk/${id}`, REMOVED_AT_ONCE, false);
  const range = attempt === undefined ? all : { ...all, upper: chunkKey(id, attempt, 0) };
  for (;;) {
    const count = await store.write(async (tx) => {
      const [entries = []] = (await tx.fetch([], [range])).ranges;
      tx.apply({ puts: [], deletes: entries.map(({ key }) => ({ space: 'files', key })) });
      return entries.length;
    }, FILES);
    if (count < REMOVED_AT_ONCE) return;
  }
}

/** Removes a request with its chunks and its token. */
export async function removeRequest(store: Store, row: ExportRow): Promise<void> {
  await removeChunks(store, row.id);
  const addresses = [requestAddress(row.id)];
  if (row.token !== undefined) addresses.push(tokenAddress(row.token));
  await store.write(async (tx) => {
    const { rows } = await tx.fetch(addresses, []);
    // The token may belong to a later request by now.
    const isOwn = (_: RowAddress, at: number) => String(rows[at]?.value).includes(row.id);
    tx.apply({ puts: [], deletes: addresses.filter(isOwn) });
  }, FILES);
}

/** The parts of a download URL. */
export interface FileAddress {
  readonly requestId: string;
  readonly version: number;
  /** The credential that permits the download. */
  readonly signature: string;
}
export type MakeUrl = (file: FileAddress) => string;

const timeText = (ts: Micros): string => new Date(ts / 1000).toISOString();

export function recordOf(row: ExportRow, makeUrl: MakeUrl, now: Micros): LogRequestRecord {
  const { wish: request, url, id, version } = row;
  const isOpen = row.state === 'Complete' && url !== undefined;
  return {
    request_id: id,
    ...(request.database !== undefined && { database: request.database }),
    region_group: request.regionGroup,
    time_start: request.timeStart,
    time_end: request.timeEnd,
    state: row.state,
    ...(isOpen &&
      now < url.expires && {
        presigned_url: makeUrl({ requestId: id, version, signature: url.signature }),
      }),
    ...(isOpen && { presigned_url_expiration_time: timeText(url.expires) }),
    version,
    updated_at: timeText(row.updated),
  };
}
