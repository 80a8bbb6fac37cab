/**
 * A whole write as one statement, which is a transaction by itself. For a database with a single connection, where nothing has to
 * be locked or read first. The statement compares the counts of changed rows itself and divides by zero if they are wrong, so
 * that nothing is stored.
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
  /** Rows that must not exist yet. */
  readonly inserts: readonly PlacedRow[];
  /** Rows that have no index entries now and had none before. */
  readonly upserts: readonly PlacedRow[];
  /** Index entries of the inserted rows. */
  readonly entries: readonly EntryPlace[];
}

/** The SQLSTATE of a division by zero. */
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

/** Joins the statements and renumbers their parameters. Parameter $1 of each is the tenant, so all of them share it. */
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
