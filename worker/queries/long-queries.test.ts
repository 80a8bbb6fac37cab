import { afterEach, expect, test, vi } from 'vitest';
import { NO_METRICS } from '../../src/engine/session.ts';
import type { QueryAnswer } from '../../src/engine/host.ts';
import { Refusal } from '../../src/errors.ts';
import type { FromEvaluator, ToEvaluator } from './evaluator-messages.ts';
import { SecondWorkerQueries } from './long-queries.ts';

const answer = (body: string): QueryAnswer => ({
  status: 200,
  body,
  txnTime: 1,
  metrics: NO_METRICS,
  database: [],
  readSet: { rows: [], ranges: [] },
});

/** A fake `Worker`, which only `instanceof Worker` would not accept. */
class FakeEvaluator extends EventTarget {
  readonly received: ToEvaluator[] = [];
  isTerminated = false;

  postMessage(message: ToEvaluator): void {
    // As in a browser, a message that cannot be cloned is rejected.
    this.received.push(structuredClone(message));
  }

  say(message: FromEvaluator): void {
    this.dispatchEvent(new MessageEvent('message', { data: message }));
  }

  fail(): void {
    this.dispatchEvent(new Event('error'));
  }

  terminate(): void {
    this.isTerminated = true;
  }

  /** Texts of the queries received. */
  get queries(): string[] {
    return this.received.flatMap((each) =>
      each.type === 'query' ? [each.query.request.query] : [],
    );
  }
}

function open({ start = true }: { readonly start?: boolean } = {}) {
  if (!vi.isFakeTimers()) vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  const started: FakeEvaluator[] = [];
  const here: string[] = [];
  const beside = new SecondWorkerQueries({
    start: () => {
      if (!start) throw new Error('no workers here');
      const evaluator = new FakeEvaluator();
      started.push(evaluator);
      return evaluator as unknown as Worker;
    },
    evaluator: () => ({
      name: 'notes',
      settings: {} as never,
      birth: 'b',
      aliveLock: 'l',
      rootHash: 'h',
    }),
    executeHere: ({ query }) => {
      here.push(query);
      return Promise.resolve(answer('here'));
    },
  });
  const execute = (query: string, more: { isAbandoned?: () => boolean; timeoutMs?: number } = {}) =>
    beside.execute({
      secret: 's',
      query,
      apiVersion: '4',
      allows: 'write',
      arrived: Date.now() * 1000,
      ...more,
    });
  return { beside, started, here, execute };
}

afterEach(() => vi.useRealTimers());

test('queries are executed one after the other, in one worker', async () => {
  const { beside, started, execute } = open();
  const [first, second] = [execute('1'), execute('2', { isAbandoned: () => false })];
  const [evaluator] = started;
  expect(evaluator?.received.map(({ type }) => type)).toEqual(['open']);
  evaluator?.say({ type: 'opened' });
  expect(evaluator?.queries).toEqual(['1']);
  evaluator?.say({ type: 'answer', answer: answer('one') });
  expect(await first).toMatchObject({ body: 'one' });
  expect(evaluator?.queries).toEqual(['1', '2']);
  evaluator?.say({ type: 'refused', refusal: { code: 'locked', description: 'locked' } });
  await expect(second).rejects.toMatchObject({ code: 'locked' });
  expect(started).toHaveLength(1);
  beside.close();
  await expect(execute('3')).rejects.toMatchObject({ code: 'storage_unavailable' });
});

test('close() terminates a worker during a query, and leaves an idle worker to end by itself', async () => {
  const [idle, busy] = [open(), open()];
  const answered = idle.execute('1');
  idle.started[0]?.say({ type: 'opened' });
  idle.started[0]?.say({ type: 'answer', answer: answer('one') });
  await answered;
  const refused = busy.execute('1');
  busy.started[0]?.say({ type: 'opened' });
  for (const { beside } of [idle, busy]) beside.close();
  await expect(refused).rejects.toMatchObject({ code: 'storage_unavailable' });
  const ended = [idle, busy].map(({ started }) => started[0]?.isTerminated);
  expect(ended).toEqual([false, true]);
});

test('turns are short during long queries and for a while after them, except turns of writes', async () => {
  const { beside, started, execute } = open();
  const alone = beside.turnMs({ secret: undefined });
  const first = execute('1');
  const second = execute('2');
  const several = beside.turnMs({ secret: undefined });
  for (const each of [first, second]) {
    started[0]?.say({ type: 'opened' });
    started[0]?.say({ type: 'answer', answer: answer('done') });
    await each;
  }
  const idle = beside.turnMs({ secret: undefined });
  expect([several < idle, idle < alone]).toEqual([true, true]);
  expect(beside.turnMs({ secret: undefined }, { mayWrite: true })).toBe(alone);
  vi.advanceTimersByTime(60_000);
  expect(beside.turnMs({ secret: undefined })).toBe(alone);
  beside.close();
});

test('a query that is abandoned or times out ends with its worker, and the next query gets a new worker', async () => {
  const { beside, started, execute } = open();
  let isGone = false;
  const first = execute('1', { isAbandoned: () => isGone });
  started[0]?.say({ type: 'opened' });
  const second = execute('2', { timeoutMs: 1000 });
  isGone = true;
  await expect(first).rejects.toMatchObject({ code: 'time out' });
  expect(started[0]?.isTerminated).toBe(true);
  started[1]?.say({ type: 'opened' });
  expect(started[1]?.queries).toEqual(['2']);
  const third = execute('3');
  vi.advanceTimersByTime(7_000);
  await expect(second).rejects.toMatchObject({ code: 'time out' });
  started[2]?.say({ type: 'opened' });
  started[2]?.say({ type: 'answer', answer: answer('three') });
  expect(await third).toMatchObject({ body: 'three' });
  beside.close();
});

test('if the clock is set back, a query still times out, and turns are short for no longer', async () => {
  const { beside, started, execute } = open();
  const alone = beside.turnMs({ secret: undefined });
  const stuck = execute('1', { timeoutMs: 1000 });
  started[0]?.say({ type: 'opened' });
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(7_000);
  await expect(stuck).rejects.toMatchObject({ code: 'time out' });
  vi.advanceTimersByTime(60_000);
  expect(beside.turnMs({ secret: undefined })).toBe(alone);
  beside.close();
});

test.each<[string, (evaluator: FakeEvaluator | undefined) => void]>([
  ['was stopped', () => vi.advanceTimersByTime(1000)],
  ['lost its worker', (evaluator) => evaluator?.fail()],
])('when the last query %s, no timer is left', async (_, end) => {
  vi.useFakeTimers({
    toFake: ['Date', 'performance', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'],
  });
  const { beside, started, execute } = open();
  const refused = execute('1', { isAbandoned: () => true }).catch((reason: unknown) => reason);
  started[0]?.say({ type: 'opened' });
  end(started[0]);
  expect(await refused).toBeInstanceOf(Refusal);
  expect(vi.getTimerCount()).toBe(0);
  // The next query can be stopped as before.
  const next = execute('2', { isAbandoned: () => true }).catch((reason: unknown) => reason);
  vi.advanceTimersByTime(1000);
  expect(await next).toMatchObject({ code: 'time out' });
  beside.close();
});

test('a query that has begun to write is not ended, and if its worker fails its effect is unknown', async () => {
  const { beside, started, execute } = open();
  let looks = 0;
  const first = execute('1', { isAbandoned: () => ++looks > 0 });
  const [evaluator] = started;
  evaluator?.say({ type: 'opened' });
  evaluator?.say({ type: 'may-write' });
  expect(evaluator?.received.at(-1)).toEqual({ type: 'write' });
  await expect.poll(() => looks).toBeGreaterThan(2);
  expect(evaluator?.isTerminated).toBe(false);
  evaluator?.say({ type: 'answer', answer: answer('done') });
  expect(await first).toMatchObject({ body: 'done' });
  const second = execute('2');
  evaluator?.say({ type: 'may-write' });
  evaluator?.fail();
  await expect(second).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('unknown') as string,
  });
  const third = execute('3');
  started[1]?.say({ type: 'opened' });
  started[1]?.fail();
  await expect(third).rejects.toMatchObject({ code: 'internal server error' });
  beside.close();
});

test('queries are executed here if no worker can be started, or if it cannot open the database', async () => {
  for (const start of [false, true]) {
    const { beside, started, here, execute } = open({ start });
    const first = execute('1');
    const second = execute('2');
    started[0]?.fail();
    for (const each of [first, second]) expect(await each).toMatchObject({ body: 'here' });
    expect(here).toEqual(['1', '2']);
    expect(beside.turnMs({ secret: undefined })).toBe(Infinity);
    expect(await execute('3')).toMatchObject({ body: 'here' });
    beside.close();
  }
});
