import { expect, test } from 'vitest';
import { startPrepared } from '../testing/prepared-pglite.ts';
import { openPglite } from './pglite-database.ts';

test('close() resolves when the thread has ended, so nothing writes to its folder any more', async () => {
  let hasEnded = false;
  const database = openPglite('memory:', async (data) => {
    const thread = await startPrepared(data);
    thread.once('exit', () => (hasEnded = true));
    return thread;
  });
  const connection = await database.connect();
  const [result] = await connection.run([{ name: '', text: 'SELECT 7', values: [] }]);
  expect(result?.rows).toEqual([['7']]);
  connection.release();
  expect(hasEnded).toBe(false);
  await database.close();
  expect(hasEnded).toBe(true);
});

test('a database that was never used can be closed', async () => {
  await expect(openPglite('memory:').close()).resolves.toBeUndefined();
});
