/** The contract suite of all stores, run on the SQL store over PGlite and PostgreSQL. */
import { describeStore } from '../../src/store/store.contract.ts';
import { sharedDatabases } from '../testing/hub-stores.ts';
import { openTables } from './sql-tables.ts';

const { pglite, postgres } = sharedDatabases();

describeStore('openTables() on PGlite', async (name) => openTables(await pglite(), name));
describeStore('openTables() on PostgreSQL', async (name) => openTables(await postgres(), name));
