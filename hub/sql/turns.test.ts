/** A large result never takes one long turn of the event loop: not when it is parsed, read or passed on. */
import { Socket } from 'node:net';
import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { keyOfBytes } from '../../src/codec/key.ts';
import { SharedReads } from '../store/shared-reads.ts';
import { ReadTransaction } from '../store/sql-transactions.ts';
import { sharedPostgres } from '../testing/hub-stores.ts';
import { BorrowedDatabase } from './borrowed-database.ts';
import { LentDatabase, type FromLender } from './lent-database.ts';
import { startPrepared } from '../testing/prepared-pglite.ts';
import { openPglite } from './pglite-database.ts';
import { PgDatabase } from './pg-database.ts';
import type { SqlDatabase, SqlResult, Statement } from './sql-client.ts';
import { nextTurn, TURN_BYTES, TURN_ROWS } from '../event-loop/next-turn.ts';

const server = sharedPostgres();

/** Counts turns of the event loop until it is stopped. */
function countTurns(): { readonly count: number; stop(): void } {
  let [count, isOver] = [0, false];
  const next = (): void => {
    count += 1;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  return {
    get count() {
      return count;
    },
    stop: () => void (isOver = true),
  };
}

/** A database that answers each batch with the same results. */
const answering = (results: readonly SqlResult[]): SqlDatabase => ({
  connect: async () => ({ run: async () => results, release: () => undefined }),
  isExclusive: true,
  roundTrips: 0,
  listen: () => undefined,
  close: async () => undefined,
});

const numbered = (count: number): SqlResult => ({
  command: 'SELECT',
  count,
  rows: Array.from({ length: count }, (_, n) => [String(n), '0', `{"n":${n}}`, null, '\\x']),
});

const SELECT: Statement = { name: '', text: 'SELECT', values: [] };

test('a large PGlite response is parsed in several turns', async () => {
  const turns = countTurns();
  let [bytes, arrived] = [0, 0];
  const database = openPglite('memory:', async (data) => {
    const worker = await startPrepared(data);
    worker.on('message', (message: { readonly bytes?: Uint8Array }) => {
      bytes = message.bytes?.length ?? 0;
      arrived = turns.count;
    });
    return worker;
  });
  const connection = await database.connect();
  const text = `SELECT n::text, repeat('a', 100) FROM generate_series(1, 20000) AS n`;
  const [result] = await connection.run([{ name: '', text, values: [] }]);
  expect(bytes).toBeGreaterThan(6 * TURN_BYTES);
  expect(turns.count - arrived).toBeGreaterThanOrEqual(Math.floor(bytes / TURN_BYTES));
  expect(result?.rows).toHaveLength(20_000);
  expect(result?.rows.every(([n, a], i) => n === String(i + 1) && a?.length === 100)).toBe(true);
  const [after] = await connection.run([{ name: '', text: 'SELECT 7', values: [] }]);
  expect(after?.rows).toEqual([['7']]);
  connection.release();
  turns.stop();
  await database.close();
});

test('a large PostgreSQL result is read in small portions, one per turn', async () => {
  const socket = new Socket();
  const connectionString = process.env['BURROW_POSTGRES_URL'] ?? (await server()).url;
  const pool = { connectionString, max: 1, stream: () => socket };
  const database = new PgDatabase({ isExclusive: false, canListen: false, pool });
  const connection = await database.connect();
  let [most, before, isOver] = [0, socket.bytesRead, false];
  const look = (): void => {
    most = Math.max(most, socket.bytesRead - before);
    before = socket.bytesRead;
    if (!isOver) setImmediate(look);
  };
  look();
  const text = `SELECT n::text, repeat('a', 1000) FROM generate_series(1, 8000) AS n`;
  const [result] = await connection.run([{ name: '', text, values: [] }]);
  isOver = true;
  expect(result?.rows).toHaveLength(8000);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(2 * TURN_BYTES);
  connection.release();
  await database.close();
});

test('a large result is sent to the borrowing thread in parts, one per turn', async () => {
  const results = [numbered(3), numbered(5 * TURN_ROWS + 1), numbered(2 * TURN_ROWS)];
  const { port1, port2 } = new MessageChannel();
  const lent = new LentDatabase({
    database: answering(results),
    port: port1,
    onCommitted: () => undefined,
    recover: () => Promise.resolve(),
  });
  const counts: number[] = [];
  port2.on('message', ({ part, results: whole = [] }: FromLender) =>
    counts.push([...(part ? [part] : whole)].reduce((sum, { rows }) => sum + rows.length, 0)),
  );
  const borrowed = new BorrowedDatabase(port2);
  const connection = await borrowed.connect();
  expect(await connection.run([SELECT, SELECT, SELECT])).toEqual(results);
  expect(counts.length).toBeGreaterThan(7);
  expect(Math.max(...counts)).toBeLessThanOrEqual(3 * TURN_ROWS);
  expect(await connection.run([SELECT])).toEqual(results);
  connection.release();
  await borrowed.close();
  await lent.end();
});

test.each([
  [10, 0],
  [5 * TURN_ROWS, 2],
])('processing %i fetched rows takes %i turns', async (count, expected) => {
  const database = answering([numbered(count)]);
  const transaction = new ReadTransaction({
    tenant: 'a',
    spaces: ['documents'],
    isExclusive: true,
    isSnapshot: false,
    shared: new SharedReads(database, 'a'),
    connect: () => database.connect(),
  });
  const keys = Array.from({ length: count }, (_, n) => keyOfBytes(String(n)));
  const turns = countTurns();
  const found = await transaction.fetch(
    keys.map((key) => ({ space: 'documents', key })),
    [],
  );
  turns.stop();
  expect(turns.count).toBe(expected);
  expect(found.rows.map((row) => row?.value)).toEqual(keys.map((_, n) => `{"n":${n}}`));
});

test('if several callers wait for the next turn, one continues in each turn', async () => {
  const turns = countTurns();
  const wentOn = await Promise.all([1, 2, 3, 4].map(() => nextTurn().then(() => turns.count)));
  turns.stop();
  expect(new Set(wentOn).size).toBe(4);
});
