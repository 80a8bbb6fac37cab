/**
 * All statements of the store, in the subset of SQL that PostgreSQL, CockroachDB, YugabyteDB and Citus share; docs/hub-sql.md
 * gives the reasons for each. The tenant is the first parameter of each, except BEGIN, COMMIT and ROLLBACK, and the first
 * column of every key, so a row is found on one shard, by a prefix of a primary key.
 */
import { createHash } from 'node:crypto';
import type { Key } from '../../src/codec/key.ts';
import {
  ENTRY_OVERHEAD_BYTES,
  ROW_OVERHEAD_BYTES,
  SPACES,
  type Range,
  type RowAddress,
  type Space,
} from '../../src/store/port.ts';
import type { SqlValue, Statement } from './sql-client.ts';
import {
  byteArrays,
  integers,
  keyBytes,
  packEntries,
  smallints,
  texts,
  valueColumns,
} from './sql-values.ts';
import type { Row } from '../../src/store/port.ts';

/** A B-tree of PostgreSQL holds no tuple above 2,704 bytes, so the rest of a longer entry is stored in a column outside the index. */
const INDEXED_ENTRY_BYTES = 2000;

/** Each lane has its own lock: a write of documents does not wait for a write of the query log. */
export const LANES = { hot: 0, log: 1, files: 2 } as const;
export type Lane = (typeof LANES)[keyof typeof LANES];

export function lanesOf(spaces: readonly Space[]): readonly Lane[] {
  const lanes = new Set<Lane>(
    spaces.map((space) => (space === 'log' || space === 'files' ? LANES[space] : LANES.hot)),
  );
  return [...lanes].toSorted((a, b) => a - b);
}

/** These numbers are stored in the database, so they must never change. */
export const spaceNumber = (space: Space): number => SPACES.indexOf(space);

export interface EntryPlace {
  readonly space: Space;
  readonly entry: Key;
  readonly key: Key;
}

const named =
  (name: string, text: string) =>
  (values: readonly SqlValue[]): Statement => ({ name, text, values });

export const begin = named('burrow_begin', 'BEGIN ISOLATION LEVEL READ COMMITTED');
export const beginSnapshot = named(
  'burrow_begin_snapshot',
  'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
);
export const commit = named('burrow_commit', 'COMMIT');
export const rollback = named('burrow_rollback', 'ROLLBACK');

const lockText = `SELECT lane FROM burrow_sequencers
 WHERE tenant = $1 AND lane = ANY($2::smallint[]) ORDER BY lane FOR UPDATE`;
/** The first statement of each write. Later writes wait here, so commits happen in the order in which they get this lock. */
export const lock = (tenant: string, lanes: readonly Lane[]): Statement =>
  named('burrow_lock', lockText)([tenant, smallints(lanes)]);

/**
 * LATERAL fixes the join order: first each wanted key, then its row. So a plan that the server made while the tables were empty,
 * when every join order cost the same, is still good when they are large.
 */
const wantedRows = (columns: string): string => `SELECT wanted.n, ${columns}
 FROM unnest($2::smallint[], $3::bytea[], $4::integer[]) AS wanted(space, key, n)
 CROSS JOIN LATERAL (SELECT ${columns} FROM burrow_rows r
 WHERE r.tenant = $1 AND r.space = wanted.space AND r.key = wanted.key LIMIT 1) AS r`;

const ROW_COLUMNS = 'r.kind, r.body, r.bytes, r.entries';

export const rowsAt = (tenant: string, addresses: readonly RowAddress[]): Statement =>
  named('burrow_rows_at', wantedRows(ROW_COLUMNS))([tenant, ...placesOf(addresses)]);

/** The size of a row, computed without reading its values from disk. About the same as `rowBytes`. */
const ROW_SIZE = `(coalesce(octet_length(body), 0) + coalesce(octet_length(bytes), 0)
 + coalesce(octet_length(entries), 0) + ${ROW_OVERHEAD_BYTES})`;

/**
 * Limits a statement to its first rows, in order, up to a number of bytes. The added last column `upto` is the sum of bytes so
 * far.
 */
const firstBytes = (text: string, order: string, size: string, parameter: string): string =>
  `SELECT * FROM (SELECT found.*, sum(${size}) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS upto
 FROM (${text}) AS found) AS summed
 WHERE upto - ${size} < ${parameter} ORDER BY ${order}`;

const firstRowsText = firstBytes(wantedRows(ROW_COLUMNS), 'n', ROW_SIZE, '$5');
/** `rowsAt()` limited to a number of bytes, with the added column `upto`. */
export const firstRowsAt = (
  tenant: string,
  addresses: readonly RowAddress[],
  bytesMax: number,
): Statement =>
  named('burrow_first_rows_at', firstRowsText)([tenant, ...placesOf(addresses), String(bytesMax)]);

/** Tells which rows exist, and returns their index entries. */
export const entriesAt = (tenant: string, addresses: readonly RowAddress[]): Statement =>
  named('burrow_entries_at', wantedRows('r.entries'))([tenant, ...placesOf(addresses)]);

const placesOf = (addresses: readonly RowAddress[]): SqlValue[] => [
  smallints(addresses.map(({ space }) => spaceNumber(space))),
  byteArrays(addresses.map(({ key }) => keyBytes(key))),
  integers(addresses.map((_, n) => n)),
];

/** A range statement limited to a number of bytes, with the added column `upto`: the sum of bytes so far. */
export function firstOfRange(
  { name, text, values }: Statement,
  { by, reverse, rows }: Range,
  bytesMax: number,
): Statement {
  const columns = by === 'key' ? ['key'] : ['entry', 'tail', 'key'];
  const order = columns.map((column) => `${column} ${reverse ? 'DESC' : 'ASC'}`).join(', ');
  const own = by === 'key' ? 'octet_length(key)' : 'octet_length(entry) + octet_length(tail)';
  const size = `(${own} + ${ENTRY_OVERHEAD_BYTES} + ${rows ? ROW_SIZE : '0'})`;
  const bounded = firstBytes(text, order, size, `$${values.length + 1}`);
  return named(`${name}_first`, bounded)([...values, String(bytesMax)]);
}

/** Columns: key; then those of the row, if requested. */
export function rangeOfKeys(tenant: string, range: Range): Statement {
  const { space, lower, upper, reverse, limit, rows } = range;
  const direction = reverse ? 'DESC' : 'ASC';
  const text = `SELECT r.key${rows ? `, ${ROW_COLUMNS}` : ''} FROM burrow_rows r
 WHERE r.tenant = $1 AND r.space = $2 AND r.key >= $3 AND r.key < $4
 ORDER BY r.key ${direction} LIMIT $5`;
  return named(
    `burrow_keys_${direction}${rows ? '_rows' : ''}`,
    text,
  )([tenant, spaceNumber(space), keyBytes(lower), keyBytes(upper), String(limit)]);
}

/**
 * Columns: entry, tail, key; then those of the row, if requested. Only exact if no entry and no bound is longer than
 * `INDEXED_ENTRY_BYTES`.
 */
export function rangeOfEntries(tenant: string, range: Range): Statement {
  const { space, lower, upper, reverse, limit, rows } = range;
  const direction = reverse ? 'DESC' : 'ASC';
  const text = `SELECT e.entry, e.tail, e.key${rows ? `, ${ROW_COLUMNS}` : ''} FROM burrow_entries e
${rows ? ENTRY_ROWS : ''} WHERE e.tenant = $1 AND e.space = $2 AND e.entry >= $3 AND e.entry < $4
 ORDER BY e.entry ${direction}, e.tail_hash ${direction}, e.key ${direction} LIMIT $5`;
  return named(
    `burrow_entries_${direction}${rows ? '_rows' : ''}`,
    text,
  )([tenant, spaceNumber(space), keyBytes(lower), keyBytes(upper), String(limit)]);
}

const ENTRY_ROWS = ` CROSS JOIN LATERAL (SELECT ${ROW_COLUMNS} FROM burrow_rows r
 WHERE r.tenant = $1 AND r.space = $2 AND r.key = e.key LIMIT 1) AS r
`;

export const isLongEntry = (entry: Key): boolean => entry.length > INDEXED_ENTRY_BYTES;

/** Like `rangeOfEntries()`, but exact for entries of any length: entries whose first bytes are equal are sorted by their tails. */
export function rangeOfLongEntries(tenant: string, range: Range): Statement {
  const { space, lower, upper, reverse, limit, rows } = range;
  const direction = reverse ? 'DESC' : 'ASC';
  const text = `SELECT e.entry, e.tail, e.key${rows ? `, ${ROW_COLUMNS}` : ''} FROM burrow_entries e
${rows ? ENTRY_ROWS : ''} WHERE e.tenant = $1 AND e.space = $2 AND e.entry >= $3 AND e.entry <= $5
 AND (e.entry, e.tail) >= ($3, $4) AND (e.entry, e.tail) < ($5, $6)
 ORDER BY e.entry ${direction}, e.tail ${direction}, e.key ${direction} LIMIT $7`;
  return named(
    `burrow_long_entries_${direction}${rows ? '_rows' : ''}`,
    text,
  )([tenant, spaceNumber(space), ...headAndTail(lower), ...headAndTail(upper), String(limit)]);
}

const headAndTail = (entry: Key): [Buffer, Buffer] => [
  keyBytes(entry.slice(0, INDEXED_ENTRY_BYTES)),
  keyBytes(entry.slice(INDEXED_ENTRY_BYTES)),
];

const insertText = `INSERT INTO burrow_rows (tenant, space, key, kind, body, bytes, entries)
 SELECT $1::text, a.space, a.key, a.kind, a.body, a.bytes, a.entries
 FROM unnest($2::smallint[], $3::bytea[], $4::smallint[], $5::text[], $6::bytea[], $7::bytea[])
 AS a(space, key, kind, body, bytes, entries)`;
const upsertText = `${insertText}
 ON CONFLICT (tenant, space, key) DO UPDATE SET kind = excluded.kind, body = excluded.body,
 bytes = excluded.bytes, entries = excluded.entries`;

export const INSERT_NEW_ROWS = 'burrow_insert_rows';

export interface PlacedRow {
  readonly space: Space;
  readonly row: Row;
}

/** Fails if one of the rows exists. */
export const insertRows = (tenant: string, puts: readonly PlacedRow[]): Statement =>
  named(INSERT_NEW_ROWS, insertText)(rowValues(tenant, puts));
export const upsertRows = (tenant: string, puts: readonly PlacedRow[]): Statement =>
  named('burrow_upsert_rows', upsertText)(rowValues(tenant, puts));

function rowValues(tenant: string, puts: readonly PlacedRow[]): SqlValue[] {
  const columns = puts.map(({ row }) => valueColumns(row.value));
  return [
    tenant,
    smallints(puts.map(({ space }) => spaceNumber(space))),
    byteArrays(puts.map(({ row }) => keyBytes(row.key))),
    smallints(columns.map(({ kind }) => kind)),
    texts(columns.map(({ body }) => body)),
    byteArrays(columns.map(({ bytes }) => bytes)),
    byteArrays(puts.map(({ row }) => packEntries(row.entries))),
  ];
}

const deleteText = `DELETE FROM burrow_rows WHERE tenant = $1 AND space = $2 AND key = $3`;
/** Deletes one row per statement, with all statements in one round trip: a statement with a single key has only one sensible plan. */
export const deleteRow = (tenant: string, { space, key }: RowAddress): Statement =>
  named('burrow_delete_row', deleteText)([tenant, spaceNumber(space), keyBytes(key)]);

const insertEntriesText = `INSERT INTO burrow_entries (tenant, space, entry, tail_hash, key, tail)
 SELECT $1::text, a.space, a.entry, a.tail_hash, a.key, a.tail
 FROM unnest($2::smallint[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[])
 AS a(space, entry, tail_hash, key, tail)
 ON CONFLICT (tenant, space, entry, tail_hash, key) DO NOTHING`;
export const insertEntries = (tenant: string, places: readonly EntryPlace[]): Statement =>
  named(
    'burrow_insert_entries',
    insertEntriesText,
  )([
    tenant,
    smallints(places.map(({ space }) => spaceNumber(space))),
    byteArrays(places.map(({ entry }) => headAndTail(entry)[0])),
    byteArrays(places.map(({ entry }) => tailHash(headAndTail(entry)[1]))),
    byteArrays(places.map(({ key }) => keyBytes(key))),
    byteArrays(places.map(({ entry }) => headAndTail(entry)[1])),
  ]);

const deleteEntryText = `DELETE FROM burrow_entries
 WHERE tenant = $1 AND space = $2 AND entry = $3 AND tail_hash = $4 AND key = $5`;
/** Deletes one entry per statement, for the same reason as `deleteRow()`. */
export const deleteEntry = (tenant: string, { space, entry, key }: EntryPlace): Statement => {
  const [head, tail] = headAndTail(entry);
  const values = [tenant, spaceNumber(space), head, tailHash(tail), keyBytes(key)];
  return named('burrow_delete_entry', deleteEntryText)(values);
};

const tailHash = (tail: Buffer): Buffer =>
  tail.length === 0 ? tail : createHash('sha256').update(tail).digest();

const markText = `INSERT INTO burrow_commits (tenant, lane, writer, n)
 SELECT $1::text, a.lane, $3::text, $4::bigint FROM unnest($2::smallint[]) AS a(lane)
 ON CONFLICT (tenant, lane, writer) DO UPDATE SET n = excluded.n, at = now()`;
/** Stores the number of the commit inside its transaction, so that a later read can tell whether the commit happened. */
export const markCommit = (
  tenant: string,
  lanes: readonly Lane[],
  writer: string,
  n: number,
): Statement => named('burrow_mark', markText)([tenant, smallints(lanes), writer, String(n)]);

const markedText = `SELECT n FROM burrow_commits WHERE tenant = $1 AND lane = $2 AND writer = $3`;
export const lastMark = (tenant: string, lane: Lane, writer: string): Statement =>
  named('burrow_marked', markedText)([tenant, lane, writer]);

const forgetText = `DELETE FROM burrow_commits WHERE tenant = $1
 AND (writer = $2 OR at < now() - INTERVAL '30 days')`;
/** Deletes the marks of a store that closes, and old marks of stores that ended without closing. */
export const forgetMarks = (tenant: string, writer: string): Statement =>
  named('burrow_forget', forgetText)([tenant, writer]);

const sequencersText = `INSERT INTO burrow_sequencers (tenant, lane)
 SELECT $1::text, a.lane FROM unnest($2::smallint[]) AS a(lane) ON CONFLICT (tenant, lane) DO NOTHING`;
export const makeSequencers = (tenant: string): Statement =>
  named('burrow_sequencers', sequencersText)([tenant, smallints(Object.values(LANES))]);
