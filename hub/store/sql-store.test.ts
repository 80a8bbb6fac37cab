/** The suite of all stores over the SQL store, on PGlite and on PostgreSQL. */
import { afterAll } from 'vitest';
import { describeStore } from '../../src/store/store.contract.ts';
import { openOnPostgres, sharedPostgres } from '../testing/hub-stores.ts';
import { openPglite } from './pglite-database.ts';
import type { SqlDatabase } from './sql-client.ts';
import { openTables } from './sql-tables.ts';

let pglite: SqlDatabase | undefined;
afterAll(() => pglite?.close());

/** One PGlite for all tests: each has a tenant, and starting one takes seconds. */
describeStore('openHubStore() on PGlite', (name) =>
  openTables((pglite ??= openPglite('memory:')), name),
);

const postgres = sharedPostgres();

describeStore('openHubStore() on PostgreSQL', async (name) => {
  const { store, close } = await openOnPostgres(await postgres(), name);
  return {
    read: (...args) => store.read(...args),
    write: (...args) => store.write(...args),
    close,
  };
});
