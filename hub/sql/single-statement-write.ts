/**
 * A whole write as one statement, which is a transaction by itself: for a database that nobody else has, where nothing need be locked or
 * looked at before. It compares the counts of changed rows itself, and divides by zero unless they are as expected.
 */
import type { SqlValue, Statement } from './sql-client.ts';
import {
  insertEntries,
  insertRows,
  upsertRows,
  type EntryPlace,
  type PlacedRow,
} from './statements.ts';

export interface WholeWrite {
  /** None of them may be there. */
  readonly fresh: readonly PlacedRow[];
  /** None of them has, or had, entries. */
  readonly others: readonly PlacedRow[];
  /** Of the fresh rows. */
  readonly places: readonly EntryPlace[];
}

/** SQLSTATE of the division. */
export const COUNTS_DIFFER = '22012';

export function writeAtOnce(
  tenant: string,
  { fresh, others, places }: WholeWrite,
  mark: Statement,
  lanes: number,
): Statement {
  const parts = [
    insertRows(tenant, fresh),
    upsertRows(tenant, others),
    insertEntries(tenant, places),
    mark,
  ];
  const values = parts.flatMap((part): SqlValue[] => part.values.slice(1));
  const counts = [fresh.length, others.length, places.length, lanes].map(String);
  const text = (wholeText ??= textOf(parts));
  return { name: 'burrow_write_at_once', text, values: [tenant, ...values, ...counts] };
}

let wholeText: string | undefined;

/** The statements as they are alone, their parameters numbered on; all have the tenant first. */
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
