/** What the hub does by itself, over a store that is away for a while. */
import { afterEach, expect, test } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import { memoryStorage, openTestHub, type TestHub } from '../testing/test-hub.ts';

let hub: TestHub | undefined;
afterEach(() => hub?.close());

test('an index whose build has failed is built when the store is back, without another change', async () => {
  const storage = memoryStorage();
  const { store } = storage;
  let isAway = false;
  hub = await openTestHub({
    storage: {
      ...storage,
      store: {
        read: (body, options) => store.read(body, options),
        write: (body, options) =>
          isAway
            ? Promise.reject(new Refusal('storage_unavailable', 'The store is away.'))
            : store.write(body, options),
        close: () => store.close(),
      },
    },
    settings: { queryLog: false },
  });
  const { query, logged } = hub;
  await query({ create_collection: { object: { name: 'notes' } } });
  await query({ create: { collection: 'notes' }, params: { object: {} } });
  const leave = hub.hub.onCommit(() => (isAway = true));
  // Of all collections: it is not built by the query that creates it.
  const everything = { name: 'everything', source: '_' };
  expect((await query({ create_index: { object: everything } })).status).toBe(201);
  await expect.poll(logged).toContain('The store is away.');
  leave();
  isAway = false;
  const isActive = { select: 'active', from: { get: { index: 'everything' } } };
  await expect.poll(async () => (await query(isActive)).body.resource).toBe(true);
});
