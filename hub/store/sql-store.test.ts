/** The contract suite of all stores, run on the SQL store over PGlite and PostgreSQL. */
import { expect, test } from 'vitest';
import { HEAD } from '../../src/engine/transactions.ts';
import { describeStore } from '../../src/store/store.contract.ts';
import { freshTenant, sharedDatabases } from '../testing/hub-stores.ts';
import { openTables } from './sql-tables.ts';

const { pglite, postgres } = sharedDatabases();

describeStore('openTables() on PGlite', async (name) => openTables(await pglite(), name));
describeStore('openTables() on PostgreSQL', async (name) => openTables(await postgres(), name));

test('a read can wait unless it holds a connection: the only one, or one with an open snapshot', async () => {
  const canWaitOver = async (open: typeof pglite): Promise<readonly (boolean | undefined)[]> => {
    const store = await openTables(await open(), freshTenant());
    return store.read(async (tx) => {
      const canWait = [tx.canWait];
      for (let fetches = 0; fetches < 2; fetches += 1) {
        await tx.fetch([HEAD], []);
        canWait.push(tx.canWait);
      }
      return canWait;
    });
  };
  expect(await canWaitOver(pglite)).toEqual([true, false, false]);
  expect(await canWaitOver(postgres)).toEqual([true, true, false]);
});
