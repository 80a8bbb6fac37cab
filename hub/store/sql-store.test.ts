/** The suite of all stores over the SQL store, on PGlite and on PostgreSQL. */
import { describeStore } from '../../src/store/store.contract.ts';
import { sharedDatabases } from '../testing/hub-stores.ts';
import { openTables } from './sql-tables.ts';

const { pglite, postgres } = sharedDatabases();

describeStore('openTables() on PGlite', async (name) => openTables(await pglite(), name));
describeStore('openTables() on PostgreSQL', async (name) => openTables(await postgres(), name));
