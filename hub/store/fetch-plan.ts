/** Plans the statements of one `fetch`, and how to read their results. */
import { type Key, keyUnder } from '../../src/codec/key.ts';
import type { Entry, Found, Range, Row, RowAddress, Truncation } from '../../src/store/port.ts';
import { joinStatements, partResults, type RangePart } from '../sql/rows-and-range.ts';
import type { SqlResult, Statement } from '../sql/sql-client.ts';
import { bytesOf, keyOf, unpackEntries, valueOf } from '../sql/sql-values.ts';
import * as sql from '../sql/statements.ts';

export interface FetchPlan {
  readonly statements: readonly Statement[];
  readonly read: (results: readonly SqlResult[]) => Found | 'long entries';
}

export interface FetchRequest {
  readonly rows: readonly RowAddress[];
  readonly ranges: readonly Range[];
  readonly bytesMax: number;
}

/** Requests for at most this many rows, or entries without rows, have no limit of bytes. */
const FEW_ROWS = 16;
const FEW_ENTRIES = 1024;

/**
 * Uses at most one statement for all rows and one for each range that is not empty. Rows and a single range are joined into one
 * statement.
 */
export function planFetch(
  tenant: string,
  request: FetchRequest,
  hasLongEntries: boolean,
): FetchPlan {
  const { rows, bytesMax } = request;
  const isBounded = bytesMax !== Infinity && rows.length > FEW_ROWS;
  const rowsStatement = isBounded
    ? sql.firstRowsAt(tenant, rows, bytesMax)
    : sql.rowsAt(tenant, rows);
  const rowStatements = rows.length > 0 ? [rowsStatement] : [];
  const ranges = planRanges(tenant, request, hasLongEntries);
  const [first] = ranges;
  const alone = rows.length > 0 && !isBounded && ranges.length === 1 ? first : undefined;
  return {
    statements: alone
      ? [joinStatements(rowsStatement, alone)]
      : [...rowStatements, ...ranges.map(({ statement }) => statement)],
    read: (sent) => {
      const results = alone && sent[0] ? partResults(alone, sent[0]) : sent;
      const ofRows = rowStatements.length > 0 ? results[0] : undefined;
      const ofRanges = results.slice(rowStatements.length);
      if (!hasLongEntries && ranges.some(({ range }, i) => hasTails(range, ofRanges[i])))
        return 'long entries';
      const found = request.ranges.map((): readonly Entry[] => []);
      const truncated = new Set<number>();
      for (const [i, { at, range, bytes }] of ranges.entries()) {
        const result = ofRanges[i];
        found[at] = result?.rows.map((row) => entryIn(range, row)) ?? [];
        if (result && isTruncated(result, bytes)) truncated.add(at);
      }
      const all = rowsIn(rows, ofRows);
      const end =
        isBounded && ofRows && isTruncated(ofRows, bytesMax)
          ? Number(ofRows.rows.at(-1)?.[0]) + 1
          : all.length;
      if (end >= all.length && truncated.size === 0) return { rows: all, ranges: found };
      const truncation: Truncation = { rows: end, ranges: truncated };
      return { rows: all.slice(0, end), ranges: found, truncation };
    },
  };
}

interface PlannedRange extends RangePart {
  /** The index of the range among the requested ones. */
  readonly at: number;
  /** The number of bytes after which the range is truncated. */
  readonly bytes: number;
}

/** Large ranges share the limit of bytes equally. */
function planRanges(
  tenant: string,
  request: FetchRequest,
  hasLongEntries: boolean,
): readonly PlannedRange[] {
  const isLarge = ({ rows, limit }: Range): boolean => limit > (rows ? FEW_ROWS : FEW_ENTRIES);
  const large = request.bytesMax === Infinity ? 0 : request.ranges.filter(isLarge).length;
  const share = Math.ceil(request.bytesMax / large);
  return request.ranges.flatMap((range, at): readonly PlannedRange[] => {
    if (range.lower >= range.upper || range.limit <= 0) return [];
    const whole = rangeStatement(tenant, range, hasLongEntries);
    if (large === 0 || !isLarge(range))
      return [{ at, range, statement: whole, isBounded: false, bytes: Infinity }];
    const statement = sql.firstOfRange(whole, range, share);
    return [{ at, range, statement, isBounded: true, bytes: share }];
  });
}

/** Whether the result ended at its limit of bytes: the last column is the sum of bytes so far. */
const isTruncated = ({ rows }: SqlResult, bytes: number): boolean =>
  bytes !== Infinity && Number(rows.at(-1)?.at(-1) ?? 0) >= bytes;

const hasTails = ({ by }: Range, result: SqlResult | undefined): boolean =>
  by === 'entry' && (result?.rows.some((row) => row[1] !== EMPTY) ?? false);

/** The text form of a `bytea` without bytes. */
const EMPTY = '\\x';

function rangeStatement(tenant: string, range: Range, hasLongEntries: boolean): Statement {
  if (range.by === 'key') return sql.rangeOfKeys(tenant, range);
  const isLong = hasLongEntries || sql.isLongEntry(range.lower) || sql.isLongEntry(range.upper);
  return isLong ? sql.rangeOfLongEntries(tenant, range) : sql.rangeOfEntries(tenant, range);
}

function rowsIn(addresses: readonly RowAddress[], result: SqlResult | undefined): Found['rows'] {
  const rows: (Row | undefined)[] = addresses.map(() => undefined);
  for (const [n, ...columns] of result?.rows ?? []) {
    const address = addresses[Number(n)];
    if (address) rows[Number(n)] = rowIn(address.key, columns);
  }
  return rows;
}

function rowIn(key: Key, [kind, body, bytes, entries]: SqlResult['rows'][number]): Row {
  return {
    key,
    entries: unpackEntries(bytesOf(entries ?? EMPTY)),
    value: valueOf(kind, body, bytes),
  };
}

function entryIn({ by, rows }: Range, columns: SqlResult['rows'][number]): Entry {
  if (by === 'key') {
    const key = keyOf(columns[0] ?? EMPTY);
    return { entry: key, key, row: rows ? rowIn(key, columns.slice(1)) : undefined };
  }
  const key = keyOf(columns[2] ?? EMPTY);
  const entry = keyUnder(keyOf(columns[0] ?? EMPTY), keyOf(columns[1] ?? EMPTY));
  return { entry, key, row: rows ? rowIn(key, columns.slice(3)) : undefined };
}
