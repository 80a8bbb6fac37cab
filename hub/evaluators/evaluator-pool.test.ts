/** The pool with threads that do what their queries say. */
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { QueryMarks } from './query-marks.ts';
import { EvaluatorPool, type EvaluatorPoolOptions } from './evaluator-pool.ts';
import type { Evaluator } from './supervised-thread.ts';

const PROGRAM = `
const { parentPort: port, workerData: written } = require('node:worker_threads');
const flag = new Int32Array(written, 0, 2);
let end = () => undefined;
port.on('message', ({ type, request, push, read, fatal }) => {
  if (type === 'read') return port.postMessage({ type, answer: { json: Buffer.from(read.name) } });
  if (type === 'push') {
    const hash = push.message;
    if (fatal.includes(hash)) return port.postMessage({ type: 'pushed', pushed: 'refused' });
    Buffer.from(written, 8).write(hash);
    flag[1] = hash.length;
    if (hash.includes('fatal')) throw new Error('a bug');
    return port.postMessage({ type: 'pushed', pushed: 'judged' });
  }
  if (type === 'look') port.postMessage({ type: 'alive' });
  if (type === 'commit') end();
  if (type === 'close') port.close();
  if (type !== 'query') return;
  const [task] = request.query.split(' ');
  if (task.includes('write')) Atomics.store(flag, 0, 1);
  if (task.includes('stuck')) for (;;);
  if (task.includes('crash')) throw new Error('a bug');
  if (task.includes('memory')) for (const all = []; ; ) all.push(new Array(1000).fill(all.length));
  const answer = () => port.postMessage({ type: 'answer', answer: { status: 200, body: request.query } });
  if (task.includes('wait')) end = answer; else answer();
});
`;

let pool: EvaluatorPool | undefined;
let started = 0;
afterEach(() => pool?.close());

function startThread(): Evaluator {
  started += 1;
  const marks = new QueryMarks();
  const resourceLimits = { maxOldGenerationSizeMb: 32 };
  return {
    worker: new Worker(PROGRAM, { eval: true, workerData: marks.buffer, resourceLimits }),
    marks,
  };
}

function open(options: Partial<EvaluatorPoolOptions> = {}): EvaluatorPool {
  started = 0;
  pool = new EvaluatorPool({
    threads: 1,
    waitingMax: 10,
    clock: () => performance.now() * 1000,
    graceMs: 50,
    lookMs: 500,
    start: startThread,
    ...options,
  });
  return pool;
}

const request = (query: string, more: object = {}) => ({
  secret: 'somebody',
  query,
  apiVersion: '4',
  allows: 'write',
  timeoutMs: 100_000,
  arrived: performance.now() * 1000,
  ...more,
});

type Request = Parameters<EvaluatorPool['execute']>[0];

const execute = (query: string, more?: object): Promise<string> =>
  pool
    ? pool.execute(request(query, more) as Request).then(
        ({ body }) => body,
        (reason: unknown) => codeOf(reason),
      )
    : Promise.reject(new Error('There is no pool.'));

const codeOf = (reason: unknown): string =>
  reason instanceof Error && 'code' in reason ? String(reason.code) : String(reason);

const commit = { previous: 1, ts: 2, rows: [], entries: [] };

test.each([1, 200])('queries of two credentials of %d characters alternate', async (chars) => {
  open();
  const ends: string[] = [];
  const asked = ['a 1', 'a 2', 'a 3', 'b 1', 'b 2'].map((query) =>
    execute(query, { secret: query.slice(0, 1).repeat(chars) }).then((body) => ends.push(body)),
  );
  await Promise.all(asked);
  expect(ends).toEqual(['a 1', 'b 1', 'a 2', 'b 2', 'a 3']);
  expect(started).toBe(1);
});

test('two databases alternate, however many credentials one of them has', async () => {
  const opened = open();
  for (const secret of ['a', 'b', 'c']) opened.recordDatabase({ secret }, ['many']);
  opened.recordDatabase({ secret: 'd' }, ['few', 'people']);
  const ends: string[] = [];
  const asked = ['a 1', 'b 1', 'c 1', 'd 1', 'd 2'].map((query) =>
    execute(query, { secret: query.slice(0, 1) }).then((body) => ends.push(body)),
  );
  await Promise.all(asked);
  expect(ends).toEqual(['a 1', 'd 1', 'b 1', 'd 2', 'c 1']);
});

test('requests queue by database, or by address before their first response', () => {
  const opened = open();
  opened.recordDatabase({ secret: 'a', address: '10.0.0.1' }, ['many']);
  const groupOf = (secret: string | undefined, address: string): string =>
    opened.lineOf({ secret, address }).group;
  expect(groupOf('a', '10.0.0.1')).toBe('database many');
  // A key from another address counts as another user of the key.
  expect(groupOf('a', '10.0.0.2')).toBe('address 10.0.0.2');
  expect(groupOf('b', '10.0.0.1')).toBe('address 10.0.0.1');
  expect(groupOf(undefined, '10.0.0.1')).toBe('address 10.0.0.1');
  expect(opened.lineOf({ secret: 'a', address: '10.0.0.1' }).name).not.toBe(
    opened.lineOf({ secret: 'b', address: '10.0.0.1' }).name,
  );
});

test('waitedMost() lists the databases whose queries waited most often', async () => {
  let now = 0;
  const opened = open({ loopClock: () => now });
  opened.recordDatabase({ secret: 'a', address: '10.0.0.1' }, ['many']);
  const begun = ['a', 'a', 'a', 'b', 'b'].map((secret) => {
    const free = opened.whenFree({ ...request('1'), secret, address: '10.0.0.1' } as Request);
    now += 10;
    return free;
  });
  expect(begun[0]).toBeUndefined();
  for (const free of begun) await free;
  expect(opened.waitedMost(10)).toEqual([
    { limit: 'turn', who: 'database many', count: 2 },
    { limit: 'turn', who: 'address 10.0.0.1', count: 1 },
  ]);
});

test('a query that is stuck beyond its timeout is ended with its thread, and the next one is answered', async () => {
  open();
  const stuck = execute('stuck', { timeoutMs: 100 });
  const next = execute('next');
  expect(await stuck).toBe('time out');
  expect(await next).toBe('next');
  expect(started).toBe(2);
});

test('a query that waits for the store beyond its timeout is not ended', async () => {
  open({ lookMs: 100_000 });
  const waits = execute('wait', { timeoutMs: 1 });
  let looks = 0;
  const end = setInterval(() => (looks += 1) > 10 && pool?.onCommit(commit), 50);
  expect(await waits).toBe('wait');
  clearInterval(end);
  expect(started).toBe(1);
});

test.each([
  ['a query that crashes its thread', 'crash', 'Error: a bug'],
  ['a query that takes too much memory', 'memory', 'limit_exceeded'],
  ['a write that crashes its thread', 'write-crash', 'storage_unavailable'],
  ['a write that is stuck', 'write-stuck', 'storage_unavailable'],
])('%s fails with its reason, and another thread answers the next query', async (_, task, end) => {
  open();
  // Starts the thread first, so that it has begun the next query in time even on a busy machine.
  expect(await execute('first')).toBe('first');
  const answers = [
    execute(task, { timeoutMs: task === 'write-stuck' ? 2000 : 100_000 }),
    execute('next'),
  ];
  expect(await Promise.all(answers)).toEqual([end, 'next']);
  expect(started).toBe(2);
});

test('a push that ends its thread is retried once, then refused', async () => {
  const opened = open();
  const push = (hash: string) =>
    opened.push({ secret: 'somebody', message: hash }).catch((reason: unknown) => codeOf(reason));
  const asked = ['fatal', 'fatal', 'fatal', 'another', 'fatal'].map(push);
  const lost = 'Error: a bug';
  expect(await Promise.all(asked)).toEqual([lost, lost, 'refused', 'judged', 'refused']);
  expect(started).toBe(3);
});

test('a thread reads for a device, in the queue of its credential', async () => {
  const opened = open();
  const running = execute('wait', { secret: 'somebody' });
  const text = async (name: 'pull' | 'check') => {
    const read = await opened.read({ name, secret: 'somebody', message: undefined });
    return 'json' in read ? new TextDecoder().decode(read.json) : read;
  };
  const reads = [text('pull'), text('check')];
  opened.onCommit(commit);
  expect(await Promise.all([running, ...reads])).toEqual(['wait', 'pull', 'check']);
});

test('holdsUpOthers() is true if there are others, and the read is long or its credential busy', () => {
  const opened = open();
  const [secret, other] = ['somebody', 'another'];
  const holds = () => [true, false].map((isLong) => opened.holdsUpOthers({ secret }, isLong));
  opened.recordTime({ secret }, 1000);
  expect(holds()).toEqual([false, false]);
  opened.recordTime({ secret: other }, 1);
  expect(holds()).toEqual([true, true]);
  expect(opened.holdsUpOthers({ secret: other }, false)).toBe(false);
});

test('a query whose timeout ends while it is queued is answered at that moment', async () => {
  open();
  const running = execute('wait');
  expect(await execute('late', { timeoutMs: 50 })).toBe('time out');
  pool?.onCommit(commit);
  expect(await running).toBe('wait');
});

test('queries beyond the queue limit are refused; an abandoned query makes room', async () => {
  open({ waitingMax: 2 });
  let isGone = false;
  const running = execute('wait');
  const gone = execute('gone', { isAbandoned: () => isGone });
  const waiting = execute('second');
  expect(await execute('refused')).toBe('too many requests');
  isGone = true;
  const last = execute('last');
  pool?.onCommit(commit);
  expect(await Promise.all([running, gone, waiting, last])).toEqual([
    'wait',
    'time out',
    'second',
    'last',
  ]);
});

test('a credential that fills the queue does not keep other credentials out', async () => {
  open({ waitingMax: 4 });
  const running = execute('wait');
  const many = ['1', '2', '3', '4'].map((query) => execute(query, { secret: 'many' }));
  const few = execute('few', { secret: 'few' });
  expect(await many[3]).toBe('too many requests');
  expect(await execute('5', { secret: 'many' })).toBe('too many requests');
  pool?.onCommit(commit);
  expect(await Promise.all([running, few, ...many.slice(0, 3)])).toEqual([
    'wait',
    'few',
    '1',
    '2',
    '3',
  ]);
});

test('a credential with long queries in progress has shorter turns, others do not', async () => {
  const turnOf = (secret: string) => open1.turnMs({ secret });
  const open1 = open();
  const quiet = turnOf('a');
  const running = execute('wait', { secret: 'a' });
  expect([turnOf('a'), turnOf('b')]).toEqual([quiet / 2, quiet]);
  pool?.onCommit(commit);
  await running;
  expect(turnOf('a')).toBe(quiet);
});

test('a token has one queue for all addresses; a key has one for each address', async () => {
  const open1 = open();
  const quiet = open1.turnMs({ secret: 'fnEtoken' });
  const running = execute('wait', { secret: 'fnEtoken:child:server', address: '10.0.0.1' });
  expect(open1.turnMs({ secret: 'fnEtoken' })).toBe(quiet / 2);
  const next = execute('wait', { secret: 'fnAkey', address: '10.0.0.1' });
  expect(open1.turnMs({ secret: 'fnAkey', address: '10.0.0.1' })).toBe(quiet / 2);
  expect(open1.turnMs({ secret: 'fnAkey', address: '10.0.0.2' })).toBe(quiet);
  pool?.onCommit(commit);
  await running;
  await expect.poll(() => pool?.counts).toMatchObject({ running: 1, waiting: 0 });
  pool?.onCommit(commit);
  await next;
});

test('a credential that used its share of the last second has shorter turns while others are active', () => {
  const open1 = open();
  const [busy, other] = [{ secret: 'a' }, { secret: 'b' }];
  const quiet = open1.turnMs(busy);
  open1.recordTime(busy, 500);
  expect(open1.turnMs(busy)).toBe(quiet);
  open1.recordTime(other, 0.1);
  expect(open1.turnMs(busy)).toBeLessThan(quiet / 4);
  expect(open1.turnMs(other)).toBe(quiet);
});

test("the time of a query's earlier executions counts towards its turn", () => {
  const open1 = open();
  const quiet = open1.turnMs({ secret: 'a' });
  expect(open1.turnMs({ secret: 'a' }, { evaluatedMs: quiet / 4 })).toBe((quiet * 3) / 4);
  expect(open1.turnMs({ secret: 'a' }, { evaluatedMs: quiet + 1 })).toBe(0);
});

test('close() ends running queries and refuses queued ones', async () => {
  open();
  const answers = [execute('wait'), execute('second')];
  await expect.poll(() => pool?.counts).toMatchObject({ running: 1, waiting: 1 });
  await pool?.close();
  expect(await Promise.all(answers)).toEqual(['storage_unavailable', 'storage_unavailable']);
  expect(await execute('late')).toBe('storage_unavailable');
});

/** A pool on a system that has room for `system.room` more threads; starting one without room fails. */
function openWithRoom(threads: number) {
  const system = { room: 0, reported: [] as unknown[] };
  const opened = open({
    threads,
    report: (reason) => system.reported.push(reason),
    start() {
      if (system.room === 0)
        throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
      system.room -= 1;
      return startThread();
    },
  });
  return { opened, system };
}

test('queries are refused while no thread can be started, and later ones are executed', async () => {
  const { system } = openWithRoom(1);
  for (let i = 0; i < 3; i += 1) expect(await execute('first')).toBe('storage_unavailable');
  expect(system.reported).toHaveLength(3);
  expect(system.reported[0]).toMatchObject({ cause: { code: 'ERR_WORKER_INIT_FAILED' } });
  system.room = 1;
  expect(await execute('second')).toBe('second');
});

test('if only some threads can be started, queries wait for those', async () => {
  const { system } = openWithRoom(3);
  system.room = 1;
  const answers = ['a', 'b', 'c'].map((secret) => execute(secret, { secret }));
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c']);
  expect(started).toBe(1);
});

test('if the only thread has ended and none can be started, queued queries are refused', async () => {
  const { system } = openWithRoom(1);
  system.room = 1;
  const answers = ['crash', 'second', 'third'].map((query) => execute(query));
  const refused = 'storage_unavailable';
  expect(await Promise.all(answers)).toEqual(['Error: a bug', refused, refused]);
});

test('started threads and threads that ended unexpectedly are counted and reported', async () => {
  const reported: unknown[] = [];
  const opened = open({ report: (reason) => reported.push(reason) });
  await execute('first');
  await execute('crash');
  await execute('memory');
  await execute('stuck', { timeoutMs: 100 });
  await expect.poll(() => opened.counts).toMatchObject({ threadsStarted: 3, threadsLost: 3 });
  expect(reported).toMatchObject([
    { message: LOST, cause: { message: 'a bug' } },
    { message: LOST, cause: { code: 'ERR_WORKER_OUT_OF_MEMORY' } },
    { message: LOST, cause: { code: 'time out' } },
  ]);
  await execute('last');
  await opened.close();
  expect(opened.counts).toMatchObject({ threadsStarted: 4, threadsLost: 3 });
  expect(reported).toHaveLength(3);
});

const LOST = 'A thread for long queries has ended: the next query starts another.';
