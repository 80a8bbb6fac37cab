import { expect, test } from 'vitest';
import { salvageDatabase, type SalvageOptions } from './salvage-database.ts';
import { storedName } from './stored-names.ts';
import { FakeWorker } from './testing/fake-worker.ts';

/** Workers that record the names they are asked to salvage. */
function setUp() {
  const asked: (readonly [string, string])[] = [];
  const workers: FakeWorker[] = [];
  const worker = (): Worker => {
    const fake = new FakeWorker({
      salvage: (from, into) => {
        asked.push([from, into]);
        return Promise.resolve({ ok: true, value: { rows: 3, damaged: ['block 7'], renamed: [] } });
      },
    });
    workers.push(fake);
    return fake.asWorker();
  };
  return { asked, workers, worker };
}

test('salvageDatabase() salvages into a database of the same identity, and ends its worker', async () => {
  const { asked, workers, worker } = setUp();
  const found = await salvageDatabase('notes', { into: 'rescued', worker });
  expect(found).toEqual({ rows: 3, damaged: ['block 7'], renamed: [] });
  const identity = 'alice@example.org';
  await salvageDatabase('notes', { into: 'rescued', identity, worker });
  expect(asked).toEqual([
    ['notes', 'rescued'],
    [await storedName('notes', identity), await storedName('rescued', identity)],
  ]);
  expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, true]);
});

test('salvageDatabase() refuses options that are invalid or do not exist, and starts no worker', async () => {
  const { workers, worker } = setUp();
  for (const wrong of [{}, { into: '' }, { into: 'a', to: 'b' }, { into: 5 }])
    await expect(
      salvageDatabase('notes', { worker, ...wrong } as SalvageOptions),
    ).rejects.toMatchObject({ code: 'invalid_usage' });
  await expect(salvageDatabase('', { into: 'a', worker })).rejects.toThrow('name of a database');
  expect(workers).toEqual([]);
});
