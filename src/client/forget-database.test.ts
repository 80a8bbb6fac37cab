import { beforeEach, expect, test } from 'vitest';
import { forgetDatabase } from './forget-database.ts';
import { storedName } from './stored-names.ts';
import { FakeWorker } from './testing/fake-worker.ts';

let forgotten: string[];
let workers: FakeWorker[];
let unsent: number;
const worker = (): Worker => {
  const fake = new FakeWorker({
    unsent: () => Promise.resolve({ ok: true, value: unsent }),
    forget: (name) => {
      forgotten.push(name);
      return Promise.resolve({ ok: true, value: undefined });
    },
  });
  workers.push(fake);
  return fake.asWorker();
};

beforeEach(() => {
  forgotten = [];
  workers = [];
  unsent = 0;
});

test('forgetDatabase() deletes the stored data in a worker, and terminates the worker', async () => {
  await forgetDatabase('notes', { worker });
  await forgetDatabase('notes', { worker, identity: 'alice@example.org' });
  await forgetDatabase('notes', { worker, identityHash: 'x'.repeat(43) });
  const alice = await storedName('notes', 'alice@example.org');
  expect(forgotten).toEqual(['notes', alice, `notes #${'x'.repeat(43)}`]);
  expect(workers.every(({ isTerminated }) => isTerminated)).toBe(true);
});

test('forgetDatabase() deletes unsent writes only with `discardUnsent`', async () => {
  unsent = 2;
  await expect(forgetDatabase('notes', { worker })).rejects.toMatchObject({
    code: 'unsent_writes',
    message: expect.stringContaining('2 write(s) or file(s) have not reached the hub.'),
  });
  expect(forgotten).toEqual([]);
  expect(workers.every(({ isTerminated }) => isTerminated)).toBe(true);
  await forgetDatabase('notes', { worker, discardUnsent: true });
  expect(forgotten).toEqual(['notes']);
});

test('forgetDatabase() refuses options that are invalid or do not exist', async () => {
  await expect(forgetDatabase('notes', { worker, identity: '' })).rejects.toThrow('`identity`');
  const misspelt = { worker, discardUnsend: true };
  await expect(forgetDatabase('notes', misspelt)).rejects.toThrow('Did you mean `discardUnsent`?');
  expect(workers).toEqual([]);
});
