import { expect, test } from 'vitest';
import type { Key } from '../../src/codec/key.ts';
import type { CommitNotice, QueryAnswer, QueryRequest } from '../../src/engine/host.ts';
import { refusedAnswer } from '../../src/engine/session.ts';
import { Refusal } from '../../src/errors.ts';
import { readCounted } from '../../src/store/testing/read-counted.ts';
import { LIVE_QUERIES_MAX, LiveQueries } from './live-queries.ts';

/** An engine with one document per query text, and a page that records the answers it receives. */
class Setup {
  readonly asked: string[] = [];
  readonly minSnapshots: (number | undefined)[] = [];
  /** The last commit that a run sees. */
  head: number | undefined = undefined;
  readonly places = new Set<string>();
  readonly received: string[] = [];
  readonly values = new Map<string, string>();
  /** How many runs fail because another tab blocks the store. */
  heldUp = 0;
  /** Called while a query runs. */
  amid: (query: string) => void = () => undefined;
  /** Duration of each run, in ms, and the number of pauses. */
  takes = 5;
  turns = 0;
  private time = 0;
  readonly live = new LiveQueries({
    engine: { query: (request) => this.answer(request) },
    emit: (id, { status, body }) => this.received.push(`${id} ${status} ${body}`),
    pause: async () => {
      this.turns += 1;
    },
    now: () => this.time,
  });

  private async answer(request: QueryRequest): Promise<QueryAnswer> {
    const { query, allows, placeName } = request;
    this.asked.push(query);
    this.minSnapshots.push(request.minSnapshot);
    this.places.add(`${allows} in ${placeName}`);
    await Promise.resolve();
    const body = this.values.get(query) ?? 'none';
    this.amid(query);
    this.time += this.takes;
    await Promise.resolve();
    if (this.heldUp > 0) {
      this.heldUp -= 1;
      return refusedAnswer(new Refusal('storage_blocked', 'held'), 1);
    }
    if (body === 'refused') throw new Refusal('storage_unavailable', 'no');
    if (body === 'broken') throw new Error('ours');
    return {
      status: 200,
      body,
      txnTime: 1,
      ...(this.head !== undefined && { head: this.head }),
      metrics: {} as QueryAnswer['metrics'],
      database: [],
      readSet: { rows: [{ space: 'documents', key: query as Key }], ranges: [] },
    };
  }

  commit(key: string, isComplete = true, ts = 1): void {
    const notice: CommitNotice = {
      previous: ts - 1,
      ts,
      rows: [{ space: 'documents', key: key as Key }],
      entries: [],
    };
    this.live.onCommit(notice, isComplete);
  }

  async settled(): Promise<void> {
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  }
}

test('a live query emits its first answer, and later ones only if they differ', async () => {
  const setup = new Setup();
  setup.values.set('a', 'one');
  setup.live.add(1, 'secret', 'a');
  await setup.settled();
  setup.commit('a');
  await setup.settled();
  setup.values.set('a', 'two');
  setup.commit('b');
  await setup.settled();
  expect(setup.received).toEqual(['1 200 one']);
  setup.commit('a');
  await setup.settled();
  expect(setup.received).toEqual(['1 200 one', '1 200 two']);
  expect([...setup.places]).toEqual(['read in live queries']);
  expect(setup.asked).toEqual(['a', 'a', 'a']);
});

test('minSnapshot is the latest state shown or committed; it is undefined at first and after an answer without head', async () => {
  const setup = new Setup();
  setup.head = 5;
  setup.live.add(1, 'secret', 'a');
  await setup.settled();
  setup.commit('a', true, 4);
  await setup.settled();
  setup.head = 8;
  setup.commit('a', true, 7);
  await setup.settled();
  setup.values.set('a', 'refused');
  setup.commit('a', true, 9);
  await setup.settled();
  setup.values.set('a', 'one');
  setup.head = undefined;
  setup.commit('a', true, 10);
  await setup.settled();
  setup.commit('a', true, 11);
  await setup.settled();
  expect(setup.minSnapshots).toEqual([undefined, 5, 7, 9, 10, undefined]);
});

test('several commits in one turn make a live query run once', async () => {
  const setup = new Setup();
  setup.live.add(1, 'secret', 'a');
  await setup.settled();
  for (let commit = 0; commit < 100; commit++) setup.commit('a');
  await setup.settled();
  expect(setup.asked).toEqual(['a', 'a']);
});

test('a commit during a run makes a live query run again', async () => {
  const setup = new Setup();
  setup.values.set('a', 'old');
  setup.amid = () => {
    setup.amid = () => undefined;
    setup.values.set('a', 'new');
    setup.commit('a');
  };
  setup.live.add(1, 'secret', 'a');
  await setup.settled();
  expect(setup.received).toEqual(['1 200 old', '1 200 new']);
});

test('a gap in the commit notices makes every live query run again, even one that is running', async () => {
  const setup = new Setup();
  setup.live.add(1, 'secret', 'a');
  setup.live.add(2, 'secret', 'b');
  await setup.settled();
  setup.amid = (query) => {
    setup.amid = () => undefined;
    expect(query).toBe('a');
    setup.commit('other', false);
  };
  setup.commit('a');
  await setup.settled();
  expect(setup.asked).toEqual(['a', 'b', 'a', 'a', 'b']);
});

test('a live query that fails emits the error, and stays subscribed', async () => {
  const setup = new Setup();
  setup.values.set('a', 'refused').set('b', 'broken');
  setup.live.add(1, 'secret', 'a');
  setup.live.add(2, 'secret', 'b');
  await setup.settled();
  expect(setup.received).toEqual([
    '1 503 {"errors":[{"code":"storage_unavailable","description":"no"}]}',
    expect.stringContaining('2 500 {"errors":[{"code":"internal server error"'),
  ]);
  setup.values.set('a', 'well').set('b', 'mended');
  setup.commit('x', false);
  await setup.settled();
  expect(setup.received.slice(2)).toEqual(['1 200 well', '2 200 mended']);
});

test('a live query whose first run was refused runs again after the next commit, whatever it changed', async () => {
  const setup = new Setup();
  setup.values.set('a', 'refused');
  setup.live.add(1, 'secret', 'a');
  await setup.settled();
  setup.values.set('a', 'well');
  setup.commit('x');
  await setup.settled();
  expect(setup.received.at(-1)).toBe('1 200 well');
  setup.commit('x');
  await setup.settled();
  expect(setup.asked).toEqual(['a', 'a']);
});

test('a commit during a first run that is refused makes the live query run again', async () => {
  const setup = new Setup();
  setup.values.set('a', 'refused');
  setup.amid = () => {
    setup.amid = () => undefined;
    setup.values.set('a', 'well');
    setup.commit('a');
  };
  setup.live.add(1, 'secret', 'a');
  await setup.settled();
  expect(setup.received.at(-1)).toBe('1 200 well');
});

test('a live query that another tab blocks emits storage_blocked, and is retried until it succeeds', async () => {
  const setup = new Setup();
  setup.values.set('a', 'well');
  let left = 3;
  setup.amid = () => {
    if (left-- > 0) throw new Refusal('storage_blocked', 'held');
  };
  setup.live.add(1, 'secret', 'a');
  await setup.settled();
  expect(setup.received).toEqual([
    '1 503 {"errors":[{"code":"storage_blocked","description":"held"}]}',
    '1 200 well',
  ]);
});

test('a live query answered with storage_blocked is retried until it succeeds, and follows later commits', async () => {
  const setup = new Setup();
  setup.values.set('a', 'well');
  setup.live.add(1, 'secret', 'a');
  await setup.settled();
  setup.heldUp = 2;
  setup.values.set('a', 'better');
  setup.commit('a');
  await setup.settled();
  expect(setup.received).toEqual([
    '1 200 well',
    '1 503 {"errors":[{"code":"storage_blocked","description":"held"}]}',
    '1 200 better',
  ]);
  setup.values.set('a', 'best');
  setup.commit('a');
  await setup.settled();
  expect(setup.received.at(-1)).toBe('1 200 best');
});

test('a live query that was removed emits nothing and does not run', async () => {
  const setup = new Setup();
  setup.live.add(1, 'secret', 'a');
  setup.live.remove(1);
  setup.live.remove(7);
  await setup.settled();
  setup.live.add(2, 'secret', 'b');
  setup.amid = () => setup.live.remove(2);
  await setup.settled();
  expect(setup.received).toEqual([]);
  setup.live.close();
  setup.commit('b');
  await setup.settled();
  expect(setup.asked).toEqual(['b']);
});

test('live queries over the limit are refused, and start in their order when others end', async () => {
  const setup = new Setup();
  const [first, second, third] = [0, 1, 2].map((more) => LIVE_QUERIES_MAX + more);
  for (let id = 0; id <= LIVE_QUERIES_MAX + 2; id++) setup.live.add(id, 'secret', 'a');
  const full = [first, second, third].map((id) => expect.stringContaining(`${id} 429`) as unknown);
  expect(setup.received).toEqual(full);
  setup.live.remove(Number(second));
  setup.live.remove(0);
  setup.live.remove(1);
  await expect.poll(() => setup.received).toHaveLength(3 + LIVE_QUERIES_MAX);
  expect(setup.received.slice(-2)).toEqual([`${first} 200 none`, `${third} 200 none`]);
  setup.live.close();
});

test('a quick live query runs again without a pause, a slow one after a pause', async () => {
  const setup = new Setup();
  setup.takes = 1;
  setup.values.set('a', 'one');
  setup.live.add(1, 'secret', 'a');
  await setup.settled();
  setup.turns = 0;
  setup.values.set('a', 'two');
  setup.commit('a');
  expect(setup.asked).toEqual(['a', 'a']);
  expect(setup.turns).toBe(0);
  setup.takes = 5;
  await setup.settled();
  expect(setup.received).toEqual(['1 200 one', '1 200 two']);
  setup.commit('a');
  await setup.settled();
  setup.turns = 0;
  setup.commit('a');
  expect(setup.turns).toBe(1);
});

test('a commit is scanned once for all live queries together', async () => {
  const setup = new Setup();
  for (let id = 0; id < 100; id += 1) setup.live.add(id, 'secret', `query ${id}`);
  for (let turn = 0; turn < 100; turn += 1) await setup.settled();
  expect(setup.received).toHaveLength(100);
  const keys = Array.from({ length: 1000 }, (_, i) => `other ${i}` as Key);
  const rows = readCounted(keys.map((key) => ({ space: 'documents' as const, key })));
  const entries = readCounted(keys.map((key) => ({ space: 'documents' as const, key })));
  setup.live.onCommit({ previous: 1, ts: 2, rows: rows.array, entries: entries.array }, true);
  await setup.settled();
  expect(setup.asked).toHaveLength(100);
  expect(rows.reads() + entries.reads()).toBeLessThan(10_000);
});
