import { afterEach, expect, test, vi } from 'vitest';
import { backgroundTag } from '../host/background.ts';
import { UsageError, type Database, type Sync } from '../index.ts';
import { syncInBackground } from './background.ts';

afterEach(() => vi.unstubAllGlobals());

test.each([
  [{ fetchEveryHour: 12 }, 'There is no option `fetchEveryHour`. There is: fetchEveryHours.'],
  [null, 'Options must be an object, not null.'],
  [{ fetchEveryHours: '12' }, 'The option `fetchEveryHours` must be a number above 0.'],
  [{ fetchEveryHours: Infinity }, 'The option `fetchEveryHours` must be a number above 0.'],
])('syncInBackground() refuses %j', async (options, description) => {
  const call = syncInBackground({} as never, {} as never, options as never);
  await expect(call).rejects.toBeInstanceOf(UsageError);
  await expect(call).rejects.toMatchObject({ description });
});

test('syncInBackground() refuses anything but an open database and its own sync', async () => {
  const database = () => ({ stored: { name: 'notes', settings: {} }, files: {} }) as Database;
  const db = database();
  for (const [given, sync] of [
    [undefined, {}],
    [null, {}],
    [Promise.resolve(db), { files: db.files }],
    [db, undefined],
    [db, {}],
    [db, { files: database().files }],
  ]) {
    const call = syncInBackground(given as Database, sync as Sync);
    await expect(call).rejects.toBeInstanceOf(UsageError);
    await expect(call).rejects.toThrow('Pass an open database and its sync');
  }
});

test('without `fetchEveryHours` the periodic fetch of an earlier build is cancelled', async () => {
  const asked = new Set<string>();
  const periodicSync = {
    register: async (tag: string) => void asked.add(tag),
    unregister: async (tag: string) => void asked.delete(tag),
  };
  vi.stubGlobal('navigator', {
    serviceWorker: {
      getRegistration: () => Promise.resolve({}),
      ready: Promise.resolve({ periodicSync }),
    },
  });
  const stored = { name: 'notes', settings: {} } as Database['stored'];
  const begin = (options: object) => syncInBackground({ stored } as Database, {} as never, options);
  expect(await begin({ fetchEveryHours: 12 })).toMatchObject({ sends: false, fetches: true });
  expect([...asked]).toEqual([backgroundTag(stored)]);
  expect(await begin({})).toMatchObject({ fetches: false });
  expect([...asked]).toEqual([]);
});
