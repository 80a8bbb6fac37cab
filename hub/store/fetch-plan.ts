/** What one `fetch` asks of the database, and how its answers are read. */
import type { Key } from '../../src/codec/key.ts';
import type { Entry, Range, ReadTx, Row, RowAddress } from '../../src/store/port.ts';
import type { SqlResult, Statement } from './sql-client.ts';
import { bytesOf, keyOf, unpackEntries, valueOf } from './sql-values.ts';
import * as sql from './statements.ts';

export type Found = Awaited<ReturnType<ReadTx['fetch']>>;

/** Statements that fetch, and how their results are read. */
export interface FetchPlan {
  readonly statements: readonly Statement[];
  readonly read: (results: readonly SqlResult[]) => Found | 'long entries';
}

/** At most one statement for all rows, and one for each range that can hold anything. */
export function planFetch(
  tenant: string,
  rows: readonly RowAddress[],
  ranges: readonly Range[],
  hasLongEntries: boolean,
): FetchPlan {
  const rowStatements = rows.length > 0 ? [sql.rowsAt(tenant, rows)] : [];
  const asked = ranges.filter(({ lower, upper, limit }) => lower < upper && limit > 0);
  const rangeStatements = asked.map((range) => rangeStatement(tenant, range, hasLongEntries));
  return {
    statements: [...rowStatements, ...rangeStatements],
    read: (results) => {
      const found = rowsIn(rows, rowStatements.length > 0 ? results[0] : undefined);
      const byRange = new Map<Range, readonly Entry[]>();
      for (const [i, range] of asked.entries()) {
        const result = results[rowStatements.length + i];
        if (!result) continue;
        const isLong = range.by === 'entry' && result.rows.some((row) => row[1] !== EMPTY);
        if (isLong && !hasLongEntries) return 'long entries';
        byRange.set(
          range,
          result.rows.map((row) => entryIn(range, row)),
        );
      }
      return { rows: found, ranges: ranges.map((range) => byRange.get(range) ?? []) };
    },
  };
}

/** How a server writes no bytes. */
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
  const entry = (keyOf(columns[0] ?? EMPTY) + keyOf(columns[1] ?? EMPTY)) as Key;
  return { entry, key, row: rows ? rowIn(key, columns.slice(3)) : undefined };
}
