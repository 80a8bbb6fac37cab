import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../store/memory.ts';
import type { Store, WriteTx } from '../store/port.ts';
import { readRequest } from './export-rows.ts';
import { readListRequest, readExportRequest, type Members } from './export-request.ts';
import { ExportRefusal } from './export-request.ts';
import {
  ANSWER,
  bytesOf,
  DAY,
  NOON,
  openLogKit,
  requestAt,
  ROOT_VIEWER,
  type LogKit,
} from './testing/log-kit.ts';

const DAY_RANGE = { time_start: '2024-05-01T00:00:00Z', time_end: '2024-05-02T00:00:00Z' };
const requestOf = (body: Members = {}) => readExportRequest({ ...DAY_RANGE, ...body }, 'local');
const VIEWER = ROOT_VIEWER;

function logSome({ log }: LogKit, count = 3): void {
  for (let i = 0; i < count; i++) log.add(requestAt(NOON + i), ANSWER);
}

async function exported(kit: LogKit, id: string, version = 0): Promise<string[] | undefined> {
  const file = await kit.exports.file(id, version);
  if (!file) return undefined;
  const bytes = await bytesOf(file.chunks);
  expect(bytes.length).toBe(file.bytes);
  return gunzipSync(bytes).toString().trimEnd().split('\n');
}

/** Three records in each row. A log that opens the store has nothing to write before an export. */
async function storeWithLog(rows = 1): Promise<Store> {
  const kit = openLogKit();
  for (let i = 0; i < rows; i++) {
    logSome(kit);
    await kit.log.flush();
  }
  return kit.store;
}

/** A pause that lasts until `open` is called. */
function gate(): { readonly pause: () => Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const held = new Promise<void>((resolve) => (open = resolve));
  return { pause: () => held, open };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const stateOf = async ({ exports }: LogKit, id: string): Promise<string> =>
  (await exports.status(id, VIEWER)).state;

test('request() returns Pending, and Complete follows when the file is made', async () => {
  const kit = openLogKit();
  logSome(kit);
  const first = await kit.exports.request(requestOf(), VIEWER);
  expect(first).toEqual({
    request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    region_group: 'local',
    ...DAY_RANGE,
    state: 'Pending',
    version: 0,
    updated_at: '2024-05-01T12:00:00.000Z',
  });
  await kit.exports.work();
  const record = await kit.exports.status(first.request_id, VIEWER);
  expect(record).toMatchObject({
    state: 'Complete',
    version: 0,
    presigned_url: `burrow-file:${first.request_id}/0`,
    presigned_url_expiration_time: '2024-05-01T13:00:00.000Z',
  });
  expect(await exported(kit, first.request_id)).toHaveLength(3);
});

test('an export contains records in [time_start, time_end) of the database and its children', async () => {
  const kit = openLogKit();
  for (const [ts, database] of [
    [NOON - 1, ['a']],
    [NOON, ['a']],
    [NOON + 1, ['a', 'b']],
    [NOON + 2, ['b']],
    [NOON + 1_000_000, ['a']],
  ] as const)
    kit.log.add(requestAt(ts), { ...ANSWER, database });
  const { request_id: id } = await kit.exports.request(
    requestOf({
      database: 'us-std/a',
      time_start: '2024-05-01T14:00:00+02:00',
      time_end: '2024-05-01T12:00:01.000000Z',
    }),
    VIEWER,
  );
  await kit.exports.work();
  const lines = (await exported(kit, id)) ?? [];
  expect(lines.map((line) => (JSON.parse(line) as { DATABASE: unknown }).DATABASE)).toEqual([
    ['a'],
    ['a', 'b'],
  ]);
  expect(await kit.exports.status(id, VIEWER)).toMatchObject({
    database: 'us-std/a',
    region_group: 'us-std',
  });
});

test('status() is Requested while the file is being made', async () => {
  const { pause, open } = gate();
  const states: string[] = [];
  const kit = openLogKit({ pause }, await storeWithLog());
  const { request_id: id } = await kit.exports.request(requestOf(), VIEWER);
  const work = kit.exports.work();
  while (!states.includes('Requested')) {
    await turn();
    states.push(await stateOf(kit, id));
  }
  open();
  await work;
  expect(await stateOf(kit, id)).toBe('Complete');
});

test('an empty range ends in DoesNotExist, without a URL', async () => {
  const kit = openLogKit();
  logSome(kit);
  const request = requestOf({
    time_start: '2030-01-01T00:00:00Z',
    time_end: '2030-01-02T00:00:00Z',
  });
  const { request_id: id } = await kit.exports.request(request, VIEWER);
  await kit.exports.work();
  const record = await kit.exports.status(id, VIEWER);
  expect(record.state).toBe('DoesNotExist');
  expect(record).not.toHaveProperty('presigned_url');
  expect(await exported(kit, id)).toBeUndefined();
});

test('a request with a known idempotency token is answered even if further requests are refused', async () => {
  const kit = openLogKit({ exclusively: () => Promise.resolve() });
  const idempotency_token = '00000000-0000-4000-8000-000000000000';
  const first = await kit.exports.request(requestOf({ idempotency_token }), VIEWER);
  for (let i = 1; i < 16; i++) await kit.exports.request(requestOf(), VIEWER);
  await expect(kit.exports.request(requestOf(), VIEWER)).rejects.toMatchObject({ status: 429 });
  const again = await kit.exports.request(requestOf({ idempotency_token }), VIEWER);
  expect(again.request_id).toBe(first.request_id);
});

test('an idempotency token stays valid after an older request with the same token is removed', async () => {
  const kit = openLogKit();
  const idempotency_token = '00000000-0000-4000-8000-000000000000';
  const ask = async () =>
    (await kit.exports.request(requestOf({ idempotency_token }), VIEWER)).request_id;
  const first = await ask();
  await kit.exports.work();
  kit.clock.now += 6.5 * DAY;
  const second = await ask();
  await kit.exports.work();
  kit.clock.now += 0.6 * DAY;
  await kit.exports.work();
  expect(await readRequest(kit.store, first)).toBeUndefined();
  expect(await ask()).toBe(second);
});

/** A store that fails to write chunks of files. */
function withoutChunks(base: Store): Store {
  return {
    ...base,
    write: (body, options) =>
      base.write((tx) => {
        const guarded: WriteTx = {
          ...tx,
          apply(writes) {
            if (writes.puts.some(({ row }) => row.value instanceof Uint8Array))
              throw new Error('quota');
            tx.apply(writes);
          },
        };
        return body(guarded);
      }, options),
  };
}

test('an export whose file cannot be written is Failed and reported', async () => {
  const reports: unknown[] = [];
  const kit = openLogKit(
    { report: (reason) => reports.push(reason) },
    withoutChunks(createMemoryStore()),
  );
  logSome(kit);
  const { request_id: id } = await kit.exports.request(requestOf(), VIEWER);
  await kit.exports.work();
  expect(await stateOf(kit, id)).toBe('Failed');
  expect(reports).toEqual([new Error('quota')]);
});

test('an export past its deadline is TimedOut', async () => {
  const kit = openLogKit({ deadlineMs: 1000, pause: () => Promise.resolve() });
  logSome(kit);
  const { request_id: id } = await kit.exports.request(requestOf(), VIEWER);
  kit.clock.now += 1_000_000;
  await kit.exports.work();
  expect(await stateOf(kit, id)).toBe('TimedOut');
});

test('createUrl() passes through CreatingNewUrl to a new version, and the old URL becomes invalid', async () => {
  const kit = openLogKit();
  logSome(kit);
  const { request_id: id } = await kit.exports.request(requestOf(), VIEWER);
  await kit.exports.work();
  const made = await kit.exports.createUrl(id, undefined, VIEWER);
  expect(made).toMatchObject({ state: 'CreatingNewUrl', version: 1 });
  expect(made).not.toHaveProperty('presigned_url');
  await kit.exports.work();
  expect(await kit.exports.status(id, VIEWER)).toMatchObject({
    state: 'Complete',
    version: 1,
    presigned_url: `burrow-file:${id}/1`,
  });
  expect(await exported(kit, id, 0)).toBeUndefined();
  expect(await exported(kit, id, 1)).toHaveLength(3);
  expect(await kit.exports.createUrl(id, 0, VIEWER)).toMatchObject({
    state: 'Complete',
    version: 1,
  });
  await expect(kit.exports.createUrl(id, 2, VIEWER)).rejects.toMatchObject({ status: 400 });
});

test('createUrl() refuses a request that is not complete', async () => {
  const kit = openLogKit();
  const { request_id: id } = await kit.exports.request(requestOf(), VIEWER);
  await kit.exports.work();
  await expect(kit.exports.createUrl(id, undefined, VIEWER)).rejects.toMatchObject({ status: 409 });
});

test('a URL expires and can be replaced by a new one', async () => {
  const kit = openLogKit();
  logSome(kit);
  const { request_id: id } = await kit.exports.request(requestOf(), VIEWER);
  await kit.exports.work();
  kit.clock.now += 3600 * 1_000_000;
  expect(await kit.exports.status(id, VIEWER)).not.toHaveProperty('presigned_url');
  expect(await exported(kit, id)).toBeUndefined();
  await kit.exports.createUrl(id, 0, VIEWER);
  await kit.exports.work();
  expect(await exported(kit, id, 1)).toHaveLength(3);
});

test('file() checks the signature if one is given', async () => {
  const kit = openLogKit();
  logSome(kit);
  const { request_id: id } = await kit.exports.request(requestOf(), VIEWER);
  await kit.exports.work();
  const makeUrl = ({ signature }: { readonly signature: string }) => signature;
  const { presigned_url: signature = '' } = await kit.exports.status(id, { ...VIEWER, makeUrl });
  expect(signature).toHaveLength(32);
  expect(await kit.exports.file(id, 0, signature)).toBeDefined();
  for (const wrong of ['', signature.slice(1), `${signature}A`, 'A'.repeat(32)])
    expect(await kit.exports.file(id, 0, wrong)).toBeUndefined();
});

test('an idempotency token returns the same request for 24 hours', async () => {
  const kit = openLogKit();
  const request = requestOf({ idempotency_token: '6a1f5d9c-6f0b-4f0e-8b1c-1d2e3f405162' });
  const [one, two] = await Promise.all([
    kit.exports.request(request, VIEWER),
    kit.exports.request(request, VIEWER),
  ]);
  expect(two.request_id).toBe(one.request_id);
  kit.clock.now += DAY - 1;
  const spelled = requestOf({ idempotency_token: '6A1F5D9C-6F0B-4F0E-8B1C-1D2E3F405162' });
  const other = { ...spelled, timeStart: '2024-04-01T00:00:00Z' };
  expect((await kit.exports.request(other, VIEWER)).time_start).toBe(one.time_start);
  kit.clock.now += 1;
  expect((await kit.exports.request(request, VIEWER)).request_id).not.toBe(one.request_id);
});

test('a file made by another tab contains what the tab of the request has recorded', async () => {
  const kit = openLogKit({ exclusively: () => Promise.resolve() });
  const other = openLogKit({}, kit.store);
  logSome(kit);
  const { request_id: id } = await kit.exports.request(requestOf(), VIEWER);
  await other.exports.work();
  expect(await exported(other, id)).toHaveLength(3);
});

test('work() continues an export after a reload', async () => {
  const before = openLogKit({ exclusively: () => Promise.resolve() });
  logSome(before);
  const { request_id: id } = await before.exports.request(requestOf(), VIEWER);
  await before.log.flush();
  await before.exports.work();
  expect(await stateOf(before, id)).toBe('Pending');
  const after = openLogKit({}, before.store);
  await after.exports.work();
  expect(await exported(after, id)).toHaveLength(3);
});

test('close() stops an export, and the next process continues it', async () => {
  const { pause, open } = gate();
  // More rows than are read at a time, so that there is a pause between them.
  const before = openLogKit({ pause }, await storeWithLog(5));
  const { request_id: id } = await before.exports.request(requestOf(), VIEWER);
  while ((await stateOf(before, id)) !== 'Requested') await turn();
  const closed = before.exports.close();
  open();
  await closed;
  expect(await stateOf(before, id)).toBe('Requested');
  const after = openLogKit({}, before.store);
  await after.exports.work();
  expect(await exported(after, id)).toHaveLength(15);
});

test('an attempt that was overtaken by another one writes nothing more', async () => {
  const [slowGate, fastGate] = [gate(), gate()];
  const slow = openLogKit({ pause: slowGate.pause });
  const fast = openLogKit({ pause: fastGate.pause }, slow.store);
  const idle = openLogKit({ exclusively: () => Promise.resolve() }, slow.store);
  logSome(idle);
  await idle.log.flush();
  const { request_id: id } = await idle.exports.request(requestOf(), VIEWER);
  const slowWork = slow.exports.work();
  while ((await readRequest(slow.store, id))?.state !== 'Requested') await turn();
  const before = (await readRequest(slow.store, id))?.attempt;
  const fastWork = fast.exports.work();
  while ((await readRequest(slow.store, id))?.attempt === before) await turn();

  slowGate.open();
  await slowWork;
  expect(await readRequest(slow.store, id)).toMatchObject({ state: 'Requested', chunks: 0 });
  fastGate.open();
  await fastWork;
  expect(await readRequest(slow.store, id)).toMatchObject({ state: 'Complete', attempt: 2 });
  expect(await exported(fast, id)).toHaveLength(3);
});

test('list() is sorted by time, newest first, filtered by state, and paged', async () => {
  const kit = openLogKit();
  logSome(kit);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const request =
      i % 2 === 0
        ? requestOf()
        : requestOf({ time_start: '2030-01-01T00:00:00Z', time_end: '2030-01-02T00:00:00Z' });
    ids.unshift((await kit.exports.request(request, VIEWER)).request_id);
  }
  await kit.exports.work();
  const all = await kit.exports.list(readListRequest({}), VIEWER);
  expect(all.results.map(({ request_id }) => request_id)).toEqual(ids);
  expect(all).not.toHaveProperty('next_token');
  expect(all.results[0]).toMatchObject({ version: 0, state: 'Complete' });
  const missing = await kit.exports.list(readListRequest({ states: ['DoesNotExist'] }), VIEWER);
  expect(missing.results).toHaveLength(2);
  const pages: string[] = [];
  for (let token: string | undefined; ;) {
    const page = await kit.exports.list(
      readListRequest({ max_results: 2, ...(token !== undefined && { next_token: token }) }),
      VIEWER,
    );
    pages.push(...page.results.map(({ request_id }) => request_id));
    token = page.next_token;
    if (token === undefined) break;
  }
  expect(pages).toEqual(ids);
  await expect(kit.exports.list(readListRequest({ next_token: 'x' }), VIEWER)).rejects.toThrow(
    ExportRefusal,
  );
});

test('a request of another database is not found', async () => {
  const kit = openLogKit();
  const { request_id: id } = await kit.exports.request(
    requestOf({ database: 'local/a/b' }),
    VIEWER,
  );
  const at = (...database: string[]) => ({ ...VIEWER, database });
  expect((await kit.exports.status(id, at('a'))).request_id).toBe(id);
  await expect(kit.exports.status(id, at('ab'))).rejects.toMatchObject({ status: 404 });
  await expect(kit.exports.status(id, at('a', 'b', 'c'))).rejects.toMatchObject({ status: 404 });
  await expect(kit.exports.status('no-such-id', VIEWER)).rejects.toMatchObject({ status: 404 });
  expect((await kit.exports.list(readListRequest({}), at('c'))).results).toEqual([]);
});

test('the number of pending requests is limited, and finished ones are deleted with their files after a week', async () => {
  const kit = openLogKit({ exclusively: () => Promise.resolve() });
  logSome(kit);
  for (let i = 0; i < 16; i++) await kit.exports.request(requestOf(), VIEWER);
  await expect(kit.exports.request(requestOf(), VIEWER)).rejects.toMatchObject({ status: 429 });
  const next = openLogKit({}, kit.store);
  await kit.log.flush();
  await next.exports.work();
  next.clock.now += 7 * DAY + 1_000_000;
  await next.exports.work();
  expect((await next.exports.list(readListRequest({}), VIEWER)).results).toEqual([]);
});

test.each([
  [{ time_start: undefined }, /time_start is required/],
  [{ time_end: 'tomorrow' }, /time_end must be a date-time/],
  [{ time_start: '2024-02-30T00:00:00Z' }, /time_start must be a date-time/],
  [{ time_start: '2024-05-01T00:00:00' }, /time_start must be a date-time/],
  [{ time_end: DAY_RANGE.time_start }, /later/],
  [{ time_start: '2024-02-01T23:59:59.999999Z' }, /90 days/],
  [{ regionGroup: 'mars' }, /region group/],
  [{ database: 'my-database' }, /region group/],
  [{ database: 'local//x' }, /path/],
  [{ idempotency_token: 'again' }, /idempotency_token must be a UUID/],
  [{ idempotency_token: '6a1f5d9c6f0b4f0e8b1c1d2e3f405162' }, /idempotency_token must be a UUID/],
  [{ regionGroup: 7 }, /string/],
])('readExportRequest() refuses %j', (body, message) => {
  expect(() => requestOf(body)).toThrow(message);
});

test('readExportRequest() accepts 90 days, both spellings of the region group, and prefers the group in the database path', () => {
  expect(requestOf({ time_start: '2024-02-02T00:00:00Z' }).path).toEqual([]);
  expect(requestOf({ region_group: 'eu-std' }).regionGroup).toBe('eu-std');
  expect(requestOf({ regionGroup: 'us-std' }).regionGroup).toBe('us-std');
  expect(requestOf({ regionGroup: 'eu-std', database: 'us-std/a/b' })).toMatchObject({
    regionGroup: 'us-std',
    path: ['a', 'b'],
  });
});

test('readListRequest() refuses unknown states and invalid sizes', () => {
  for (const body of [
    { states: ['Done'] },
    { states: 'Complete' },
    { max_results: 0 },
    { max_results: 1001 },
    { max_results: 1.5 },
  ])
    expect(() => readListRequest(body)).toThrow(ExportRefusal);
});
