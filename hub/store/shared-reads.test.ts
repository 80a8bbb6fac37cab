import { expect, test } from 'vitest';
import { HEAD } from '../../src/engine/transactions.ts';
import { SharedReads } from './shared-reads.ts';
import type { SqlConnection, SqlDatabase, SqlResult } from '../sql/sql-client.ts';

/** A database that answers when the test tells it to, with the value that was current when the statement arrived. */
function heldDatabase() {
  let current = 0;
  let connects = 0;
  const held: (() => void)[] = [];
  const connection: SqlConnection = {
    run: () => {
      const rows = [['0', '0', String(current), null, '\\x']];
      const result: SqlResult = { command: 'SELECT', count: 1, rows };
      return new Promise((resolve) => held.push(() => resolve([result])));
    },
    release: () => undefined,
  };
  const database: SqlDatabase = {
    connect() {
      connects += 1;
      return Promise.resolve(connection);
    },
    isExclusive: false,
    roundTrips: 0,
    listen: () => undefined,
    close: () => Promise.resolve(),
  };
  return { database, held, connects: () => connects, write: (n: number) => void (current = n) };
}

const bodyOf = ({ rows }: SqlResult): unknown => rows[0]?.[2];

test('rows() never returns data from before its call, and waiting calls share a statement', async () => {
  const { database, held, connects, write } = heldDatabase();
  const shared = new SharedReads(database, 'main');
  const first = shared.rows([HEAD]);
  await expect.poll(() => held.length).toBe(1);
  write(1);
  const later = Array.from({ length: 5 }, () => shared.rows([HEAD]));
  held[0]?.();
  expect(bodyOf(await first)).toBe('0');
  await expect.poll(() => held.length).toBe(2);
  held[1]?.();
  expect((await Promise.all(later)).map(bodyOf)).toEqual(['1', '1', '1', '1', '1']);
  expect(held).toHaveLength(2);
  expect(connects()).toBe(2);
});

test('a second statement does not wait for the first, a third one waits for either', async () => {
  const { database, held } = heldDatabase();
  const shared = new SharedReads(database, 'main');
  const calls: Promise<SqlResult>[] = [];
  for (const inFlight of [1, 2]) {
    calls.push(shared.rows([HEAD]));
    await expect.poll(() => held.length).toBe(inFlight);
  }
  const third = shared.rows([HEAD]);
  await Promise.resolve();
  expect(held).toHaveLength(2);
  held[1]?.();
  await expect.poll(() => held.length).toBe(3);
  held[2]?.();
  expect(bodyOf(await third)).toBe('0');
  held[0]?.();
  await Promise.all(calls);
});

test('rows() does not wait for slow connections', async () => {
  const { database, held } = heldDatabase();
  const shared = new SharedReads(database, 'main');
  const stuck: Promise<SqlResult>[] = [];
  for (const inFlight of [1, 2]) {
    stuck.push(shared.rows([HEAD]));
    await expect.poll(() => held.length).toBe(inFlight);
  }
  const next = shared.rows([HEAD]);
  await expect.poll(() => held.length).toBe(3);
  held[2]?.();
  expect(bodyOf(await next)).toBe('0');
  for (const answer of held) answer();
  await Promise.all(stuck);
});
