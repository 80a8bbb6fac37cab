/** The examples of the specification over the SQL store, on PGlite and on PostgreSQL: each on a tenant of its own. */
import { readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { readExamples, runExample } from '../../src/http/conformance.contract.ts';
import { openMemoryHost } from '../../src/http/testing/memory-host.ts';
import { freshTenant, sharedDatabases } from '../testing/hub-stores.ts';
import { openTables } from './sql-tables.ts';

const { pglite, postgres } = sharedDatabases();

for (const [name, database] of Object.entries({ PGlite: pglite, PostgreSQL: postgres })) {
  for (const file of ['examples', 'sets-examples', 'auth-examples']) {
    const text = readFileSync(new URL(`../../spec/${file}.jsonl`, import.meta.url), 'utf8');
    describe(`${name}: ${file}`, () => {
      for (const example of readExamples(text)) {
        test(`${example.id} ${example.area}`, async () => {
          const shared = await database();
          const store = await openTables(shared, freshTenant());
          // As the hub: who has the database for itself need not ask what others did.
          const host = { store, lease: { term: () => (shared.isExclusive ? 1 : undefined) } };
          await runExample(example, await openMemoryHost({ ...host, ownDocument: 'by role' }));
          await store.close();
        });
      }
    });
  }
}
