/**
 * A whole write as one statement, which is a transaction by itself: for a database with one connection, where nothing has to be
 * locked or read before. It compares the counts of changed rows itself, and divides by zero unless they are as expected.
 */
import type { SqlValue, Statement } from './sql-client.ts';
import {
  insertEntries,
  insertRows,
  upsertRows,
  type EntryPlace,
  type PlacedRow,
} from './statements.ts';

export interface SingleStatementWrite {
  /** None of them may exist. */
  readonly inserts: readonly PlacedRow[];
  /** None of them has, or had, entries. */
  readonly upserts: readonly PlacedRow[];
  /** Of the inserted rows. */
  readonly entries: readonly EntryPlace[];
}

/** SQLSTATE of a division by zero. */
export const COUNTS_DIFFER = '22012';

export function singleStatementWrite(
  tenant: string,
  { inserts, upserts, entries }: SingleStatementWrite,
  mark: Statement,
  lanes: number,
): Statement {
  const parts = [
    insertRows(tenant, inserts),
    upsertRows(tenant, upserts),
    insertEntries(tenant, entries),
    mark,
  ];
  const values = parts.flatMap((part): SqlValue[] => part.values.slice(1));
  const counts = [inserts.length, upserts.length, entries.length, lanes].map(String);
  const text = (wholeText ??= textOf(parts));
  return { name: 'burrow_write_at_once', text, values: [tenant, ...values, ...counts] };
}

let wholeText: string | undefined;

/** The statements as they are alone, with their parameters renumbered; the tenant is the first of each. */
function textOf(parts: readonly Statement[]): string {
  let last = 1;
  const changes = parts.map(({ text, values }, i) => {
    const before = last - 1;
    last += values.length - 1;
    const numbered = text.replace(/\$(\d+)/gu, (all, n: string) =>
      n === '1' ? all : `$${Number(n) + before}`,
    );
    return `part${i} AS (${numbered} RETURNING 1)`;
  });
  const isExpected = parts.map(
    (_, i) => `(SELECT count(*) FROM part${i}) = $${last + 1 + i}::bigint`,
  );
  return `WITH ${changes.join(',\n ')}\n SELECT 1 / (CASE WHEN ${isExpected.join(' AND ')} THEN 1 ELSE 0 END)`;
}
