/** How long whoever asks waits for a database that cannot be reached. */
import { afterEach, expect, test, vi } from 'vitest';
import { counterOf } from '../../src/store/testing/store-rows.ts';
import { SqlFailure, type SqlDatabase } from '../sql/sql-client.ts';
import { MIGRATIONS } from '../sql/migrations.ts';
import { refusalFor } from '../sql/sql-refusals.ts';
import { SqlStore } from './sql-store.ts';
import { openTables } from './sql-tables.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Each try to connect takes so long, and fails. @returns how many there were, and how long all took */
async function triesAt(connectMs: number): Promise<{ tries: number; ms: number }> {
  let ms = 0;
  let tries = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => ms);
  const database: SqlDatabase = {
    isExclusive: false,
    roundTrips: 0,
    connect() {
      tries += 1;
      ms += connectMs;
      return Promise.reject(new SqlFailure('Connecting took too long.', undefined));
    },
    listen: () => undefined,
    close: () => Promise.resolve(),
  };
  const wait = () => Promise.resolve();
  const store = new SqlStore({ database, tenant: 't', writer: 'w', random: () => 1, wait });
  await expect(counterOf(store)).rejects.toMatchObject({ code: 'storage_unavailable' });
  return { tries, ms };
}

test('a server that refuses at once is tried ten times', async () => {
  expect(await triesAt(0)).toEqual({ tries: 10, ms: 0 });
});

test('a silent server is tried three times at most', async () => {
  expect(await triesAt(10_000)).toEqual({ tries: 3, ms: 30_000 });
  expect(await triesAt(60_000)).toEqual({ tries: 3, ms: 180_000 });
});

test('an opening hub waits during a failover, but reports a wrong address at once', async () => {
  const readOnly = new SqlFailure('cannot execute INSERT in a read-only transaction', '25006');
  const gone = new SqlFailure('connect ECONNREFUSED', undefined);
  const version = { command: 'SELECT', count: 1, rows: [[String(MIGRATIONS.length)]] };
  let left: (SqlFailure | undefined)[] = [];
  const database: SqlDatabase = {
    isExclusive: false,
    roundTrips: 0,
    connect: async () => {
      if (left[0] === gone) throw left.shift();
      return {
        run: async ([first]) => {
          if (first?.text.startsWith('SELECT version')) return [version];
          const failure = left.shift();
          if (failure) throw failure;
          return [];
        },
        release: () => undefined,
      };
    },
    listen: () => undefined,
    close: () => Promise.resolve(),
  };
  const waits: number[] = [];
  const wait = async (ms: number) => void waits.push(ms);
  left = [readOnly, gone, readOnly, gone, readOnly, undefined];
  await openTables(database, 't', { wait });
  expect(waits).toHaveLength(5);
  left = [gone];
  await expect(openTables(database, 't', { wait })).rejects.toThrow('connect ECONNREFUSED');
  expect(waits).toHaveLength(5);
  // A standby that nothing promotes.
  left = Array.from({ length: 10 }, () => readOnly);
  await expect(openTables(database, 't', { wait })).rejects.toThrow(
    /read-only.* primary .*default_transaction_read_only/,
  );
});

test('an unreachable database is reported once to the operator, with the reason', async () => {
  const away = new SqlFailure('getaddrinfo ENOTFOUND database', undefined);
  const full = new SqlFailure('There are too many clients.', '53300');
  let failure = away;
  const database: SqlDatabase = {
    isExclusive: false,
    roundTrips: 0,
    connect: () => Promise.reject(failure),
    listen: () => undefined,
    close: () => Promise.resolve(),
  };
  const reported: unknown[] = [];
  const wait = () => Promise.resolve();
  const store = new SqlStore({
    database,
    tenant: 't',
    writer: 'w',
    random: () => 0,
    wait,
    report: (reason) => reported.push(reason),
  });
  const refused = () =>
    expect(counterOf(store)).rejects.toMatchObject({ code: 'storage_unavailable' });
  await refused();
  await refused();
  expect(reported).toMatchObject([{ cause: away }]);
  // It is there, and the next time it is not is another.
  failure = full;
  await refused();
  failure = away;
  await refused();
  expect(reported).toHaveLength(2);
});

test('the refusal of a read-only server says that it is read-only', async () => {
  const refused = refusalFor(new SqlFailure('cannot execute INSERT in a read-only …', '25006'));
  expect(refused).toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('read-only'),
  });
});
