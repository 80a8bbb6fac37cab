/** Each statement uses a primary key, even on a server that has no statistics about the tables yet. */
import { expect, test } from 'vitest';
import type { Key } from '../../src/codec/key.ts';
import { at, key, put, rangeOf, row } from '../../src/store/testing/store-rows.ts';
import { freshTenant, sharedDatabases } from '../testing/hub-stores.ts';
import type { SqlConnection, Statement } from './sql-client.ts';
import { openTables } from '../store/sql-tables.ts';
import { joinStatements } from './rows-and-range.ts';
import * as sql from './statements.ts';

const { pglite, postgres } = sharedDatabases();

const ROWS = 5000;
const named = (n: number): string => String(n).padStart(6, '0');

for (const [name, database] of Object.entries({ PGlite: pglite, PostgreSQL: postgres }))
  test(`statements read only their own rows before the server has statistics, on ${name}`, async () => {
    const tenant = freshTenant();
    const shared = await database();
    const store = await openTables(shared, tenant);
    const lower: Key = key(`e${named(ROWS / 2)}`);
    const page = rangeOf({ by: 'entry', lower, upper: key('f'), limit: 64 });
    const address = at(named(7));
    const beside = (statement: Statement, isBounded: boolean): Statement =>
      joinStatements(sql.rowsAt(tenant, [address]), { range: page, statement, isBounded });
    const statements: readonly Statement[] = [
      beside(sql.rangeOfEntries(tenant, page), false),
      beside(sql.firstOfRange(sql.rangeOfEntries(tenant, page), page, 1_000_000), true),
      sql.rangeOfEntries(tenant, page),
      sql.rangeOfKeys(tenant, rangeOf({ lower: key(named(ROWS / 2)), limit: 64 })),
      sql.rowsAt(tenant, [address]),
      sql.entriesAt(tenant, [address]),
      sql.deleteRow(tenant, at('nobody')),
      sql.deleteEntry(tenant, { ...at('nobody'), entry: key('none') }),
    ];
    const rows = Array.from({ length: ROWS }, (_, n) => row(named(n), [`e${named(n)}`]));
    await put(store, 'documents', rows);

    const connection = await shared.connect();
    try {
      for (const statement of statements)
        expect(await rowsTouched(connection, statement), statement.name).toBeLessThan(ROWS / 4);
    } finally {
      connection.release();
    }
    await store.close();
  });

/** The number of rows that the plan of a statement read, including those it discarded. */
async function rowsTouched(connection: SqlConnection, statement: Statement): Promise<number> {
  await connection.run([statement]);
  const text = `EXPLAIN (ANALYZE, FORMAT JSON) ${statement.text}`;
  const [found] = await connection.run([{ ...statement, name: `${statement.name}_why`, text }]);
  const [{ Plan: plan }] = JSON.parse(found?.rows[0]?.[0] ?? '[]') as [{ Plan: PlanNode }];
  return rowsOf(plan);
}

interface PlanNode {
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

const rowsOf = (node: PlanNode): number =>
  ((node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0)) *
    (node['Actual Loops'] ?? 1) +
  (node.Plans ?? []).reduce((sum, each) => sum + rowsOf(each), 0);
