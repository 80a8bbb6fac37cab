/** Dumps and moves of a server while hubs continue to write. */
import { afterAll, expect, test } from 'vitest';
import { put, row } from '../../src/store/testing/store-rows.ts';
import { freshTenant, openOnPostgres, sharedPostgres } from '../testing/hub-stores.ts';
import type { HubStore } from '../store/open-store.ts';
import { readAllRows } from './stored-rows.ts';

const postgres = sharedPostgres();
const opened: HubStore[] = [];
afterAll(() => Promise.all(opened.map((each) => each.close())));

test('readAllRows() reads one snapshot while another hub writes', async () => {
  const tenant = freshTenant();
  const open = async (): Promise<HubStore> => {
    const store = await openOnPostgres(await postgres(), tenant);
    opened.push(store);
    return store;
  };
  const [one, other] = [await open(), await open()];
  const names = Array.from({ length: 300 }, (_, n) => `document ${1000 + n}`);
  await put(
    one.store,
    'documents',
    names.map((name) => row(name)),
  );
  const values: unknown[] = [];
  let writes = 0;
  await readAllRows(one.store, async (rows) => {
    for (const { space, row: found } of rows) if (space === 'documents') values.push(found.value);
    writes += 1;
    await put(
      other.store,
      'documents',
      names.map((name) => ({ ...row(name), value: `${writes}` })),
    );
  });
  expect(values).toEqual(names);
  expect(writes).toBeGreaterThan(2);
});
