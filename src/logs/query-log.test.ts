import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { logKey } from '../codec/key.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { Range, Store } from '../store/port.ts';
import {
  BATCH_RECORDS,
  readLog,
  ROW_SPAN_MICROS,
  WAITING_RECORDS_MAX,
  type LogRange,
} from './query-log.ts';
import { ANSWER, DAY, NOON, openLogKit, requestAt } from './testing/log-kit.ts';

const ALL: LogRange = { start: 0, end: Number.MAX_SAFE_INTEGER, database: [] };

async function linesOf(store: Store, range = ALL): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  for await (const some of readLog(store, range)) {
    for (const each of some)
      records.push(JSON.parse(each.exportedLine('local')) as Record<string, unknown>);
  }
  return records;
}

test('add() stores a record with the members of Fauna’s query log and additional ones', async () => {
  const { log, store } = openLogKit();
  const request = requestAt(NOON + 123_456, {
    userAgent: 'test "agent"',
    tags: new Map([['page', 'home']]),
    traceparent: '00-1-2-00',
  });
  log.add(request, {
    ...ANSWER,
    database: ['shop', 'eu'],
    status: 404,
    errorCode: 'instance not found',
  });
  await log.flush();
  const [record] = await linesOf(store);
  expect(record).toEqual({
    API_VERSION: '4',
    BYTES_IN: 13,
    BYTES_OUT: 14,
    BYTE_READ_OPS: 2,
    BYTE_WRITE_OPS: 3,
    COMPUTE_OPS: 1,
    DATABASE: ['shop', 'eu'],
    QUERY_TIME_MS: 6,
    REGION_GROUP: 'local',
    REQUEST_HEADERS: '{"user_agent":"test \\"agent\\""}',
    REQUEST_METHOD: 'POST',
    RESPONSE_CODE: '404',
    TAGS: { page: 'home' },
    TRACEPARENT: '00-1-2-00',
    TS: '2024-05-01 12:00:00.123 Z',
    TXN_RETRIES: 7,
    REQUEST_ID: expect.stringMatching(/^[0-9a-f]{12}-1$/),
    REQUEST_PATH: '/',
    CREDENTIAL: { kind: 'key', id: '42' },
    ERROR_CODE: 'instance not found',
    QUERY: '{"add":[1,2]}',
    STORAGE_BYTES_READ: 4,
    STORAGE_BYTES_WRITE: 5,
  });
});

test('add() stores no secret, in whichever part of the request it was sent', async () => {
  const { log, store } = openLogKit();
  const secret = 'fnAEaBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789';
  log.add(
    requestAt(NOON, {
      path: `/x/${secret}`,
      query: `{"a":"${secret}"}`,
      userAgent: `Bearer ${secret}`,
      forwardedFor: secret,
      tags: new Map([
        ['t', secret],
        [secret, 't'],
      ]),
    }),
    ANSWER,
  );
  log.add(requestAt(NOON, { query: `secret ${secret}` }), {
    ...ANSWER,
    status: 400,
    errorCode: 'invalid expression',
  });
  await log.flush();
  const text = JSON.stringify(await linesOf(store));
  expect(text).not.toContain(secret);
  expect(text).toContain('***');
});

test.each([1, 10, 22, 30])(
  'no part of a secret is kept if the path or header is cut after %i characters of it',
  async (characters) => {
    const { log, store } = openLogKit();
    const before = '/'.padStart(256 - characters, 'a/');
    const cut = `${before}fnAEaBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789`;
    log.add(requestAt(NOON, { path: cut, userAgent: cut, forwardedFor: cut }), ANSWER);
    await log.flush();
    const [record] = await linesOf(store);
    expect(record?.['REQUEST_PATH']).toBe(`${before}***`.slice(0, 256));
    expect(record?.['REQUEST_HEADERS']).not.toContain('fn');
  },
);

test('no secret in a header with many secrets is kept, although hiding them shortens it', async () => {
  const { log, store } = openLogKit();
  const secret = 'fnAEaBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789';
  const userAgent = `${`${secret} `.repeat(12)}${secret}`;
  log.add(requestAt(NOON, { userAgent }), ANSWER);
  await log.flush();
  const [record] = await linesOf(store);
  expect(record?.['REQUEST_HEADERS']).not.toContain('fn');
});

test('add() writes a full batch without flush()', async () => {
  const { log, store } = openLogKit();
  for (let i = 0; i < BATCH_RECORDS - 1; i++) log.add(requestAt(NOON + i), ANSWER);
  expect(await linesOf(store)).toHaveLength(0);
  log.add(requestAt(NOON + BATCH_RECORDS), ANSWER);
  await log.flush();
  expect(await linesOf(store)).toHaveLength(BATCH_RECORDS);
  expect(log.isDirty).toBe(false);
});

test('add() drops and counts records that the store fails to write', async () => {
  const memory = createMemoryStore();
  const failing: Store = { ...memory, write: () => Promise.reject(new Error('full')) };
  const { log } = openLogKit({}, failing);
  log.add(requestAt(NOON), ANSWER);
  await log.flush();
  expect(log.counts).toEqual({ recorded: 1, lost: 1 });
});

test('add() keeps a limited number of records while a write hangs', () => {
  const hanging: Store = { ...createMemoryStore(), write: () => new Promise(() => undefined) };
  const { log } = openLogKit({}, hanging);
  for (let i = 0; i < WAITING_RECORDS_MAX + 10; i++) log.add(requestAt(NOON), ANSWER);
  expect(log.counts.lost).toBeGreaterThanOrEqual(10);
});

test('flush() waits for records that were added during a write', async () => {
  const { log, store } = openLogKit();
  log.add(requestAt(NOON), ANSWER);
  const first = log.flush();
  await Promise.resolve();
  await Promise.resolve();
  log.add(requestAt(NOON + 1), ANSWER);
  await Promise.all([first, log.flush()]);
  expect(await linesOf(store)).toHaveLength(2);
});

test('readLog() returns records in [start, end), also from rows that overlap the bounds', async () => {
  const { log, store } = openLogKit();
  for (let i = 0; i < 500; i++) {
    log.add(requestAt(NOON + i * 1_000_000), ANSWER);
    if (i % 70 === 0) await log.flush();
  }
  await log.flush();
  const range = { start: NOON + 100 * 1_000_000, end: NOON + 300 * 1_000_000, database: [] };
  const times = (await linesOf(store, range)).map(({ TS }) => TS);
  expect(times).toHaveLength(200);
  expect(times[0]).toBe('2024-05-01 12:01:40.000 Z');
  expect(times.at(-1)).toBe('2024-05-01 12:04:59.000 Z');
});

test('readLog() finds records that another tab has written late', async () => {
  const one = openLogKit();
  const other = openLogKit({}, one.store);
  other.log.add(requestAt(NOON), ANSWER);
  other.log.add(requestAt(NOON + ROW_SPAN_MICROS - 1), ANSWER);
  one.log.add(requestAt(NOON + 10), ANSWER);
  await one.log.flush();
  await other.log.flush();
  expect(await linesOf(one.store, { ...ALL, end: NOON + 11 })).toHaveLength(2);
});

test('readLog() returns the records of a database and its children', async () => {
  const { log, store } = openLogKit();
  for (const database of [[], ['a'], ['a', 'b'], ['ab'], ['b']])
    log.add(requestAt(NOON), { ...ANSWER, database });
  await log.flush();
  const found = await linesOf(store, { ...ALL, database: ['a'] });
  expect(found.map(({ DATABASE }) => DATABASE)).toEqual([['a'], ['a', 'b']]);
});

test('readLog() fetches a few rows at a time', async () => {
  const { log, store } = openLogKit();
  for (let i = 0; i < 200; i++) {
    log.add(requestAt(NOON + i), ANSWER);
    await log.flush();
  }
  let most = 0;
  for await (const lines of readLog(store, ALL)) most = Math.max(most, lines.length);
  expect(most).toBeLessThanOrEqual(4);
});

test('trim() removes all records older than the retention', async () => {
  const { log, store, clock } = openLogKit({ retentionDays: 2 });
  for (let n = 0; n < 50; n++) {
    log.add(requestAt(NOON + n), ANSWER);
    await log.flush();
  }
  await log.trim();
  expect(await linesOf(store)).toHaveLength(50);
  clock.now = NOON + 3 * DAY;
  log.add(requestAt(clock.now), ANSWER);
  await log.flush();
  await log.trim();
  expect(await linesOf(store)).toHaveLength(1);
});

test('flush() removes records older than the retention, a few rows per write', async () => {
  const { log, store, clock } = openLogKit({ retentionDays: 2 });
  for (let day = 0; day < 40; day++) {
    clock.now = NOON + (day * DAY) / 20;
    log.add(requestAt(clock.now), ANSWER);
    await log.flush();
  }
  clock.now = NOON + 10 * DAY;
  const left: number[] = [];
  for (let i = 0; i < 4; i++) {
    log.add(requestAt(clock.now + i), ANSWER);
    await log.flush();
    left.push((await linesOf(store)).length);
  }
  expect(left).toEqual([25, 10, 3, 4]);
});

test('the log stays below its maximum size by removing the oldest records (P5)', async () => {
  const { log, store } = openLogKit({ maxBytes: 5000 });
  for (let i = 0; i < 100; i++) {
    log.add(requestAt(NOON + i * 1_000_000), ANSWER);
    await log.flush();
  }
  const records = await linesOf(store);
  const range: Range = {
    space: 'log',
    by: 'key',
    lower: logKey(0, 0),
    upper: logKey(Number.MAX_SAFE_INTEGER, 0),
    reverse: false,
    limit: 1000,
    rows: true,
  };
  const [rows = []] = (await store.read((tx) => tx.fetch([], [range]))).ranges;
  const bytes = rows.reduce((sum, { row }) => sum + (row?.value.length ?? 0), 0);
  expect(bytes).toBeGreaterThan(4000);
  expect(bytes).toBeLessThanOrEqual(5000);
  expect(records.at(-1)?.['TS']).toBe('2024-05-01 12:01:39.000 Z');
});

test('long queries of a batch are redacted over several turns of the event loop', async () => {
  let turns = 0;
  const { log, store } = openLogKit({ pause: async () => void (turns += 1) });
  const query = JSON.stringify({ login: { concat: ['x'.repeat(15_000)] }, params: 'password' });
  for (let i = 0; i < 200; i++) log.add(requestAt(NOON + i, { query }), ANSWER);
  await log.flush();
  expect(turns).toBeGreaterThan(20);
  expect(await linesOf(store)).toHaveLength(200);
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('short queries of a batch are redacted over several turns of the event loop, too', async () => {
  let turns = 0;
  const { log, store } = openLogKit({ pause: async () => void (turns += 1) });
  for (let i = 0; i < BATCH_RECORDS; i += 1) log.add(requestAt(NOON + i), ANSWER);
  await log.flush();
  expect(await linesOf(store)).toHaveLength(BATCH_RECORDS);
  expect(turns).toBeGreaterThan(5);
});

test('records that wait to be written keep neither long texts nor read sets in memory', async () => {
  const { log } = openLogKit();
  const text = (n: number): string => JSON.stringify(String(n).repeat(1_000_000));
  const add = (n: number): WeakRef<object> => {
    const readSet = { rows: [], ranges: [] };
    log.add(requestAt(NOON + n, { query: text(n) }), { ...ANSWER, readSet });
    return new WeakRef(readSet);
  };
  collect();
  const before = process.memoryUsage().heapUsed;
  const reads = Array.from({ length: 50 }, (_, n) => add(n));
  // A weak reference that was dereferenced stays alive until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(reads.filter((each) => each.deref() !== undefined)).toEqual([]);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
  await log.flush();
});
