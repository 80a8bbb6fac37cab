import { expect, test } from 'vitest';
import { LoopTurns, type ShareLimits, type TurnLimits } from './loop-turns.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Opened {
  readonly group?: (credential: string) => string;
  readonly limits?: TurnLimits | undefined;
  readonly queryMs?: number;
}

const always = (limits: ShareLimits): TurnLimits => ({ alone: limits, besideOthers: limits });
const ALWAYS_3_MS = always({ ms: 3, count: Infinity });

/** Each query takes `queryMs` of a clock that only queries advance. The first letter of a query is its credential. */
function openTurns({ group, limits = ALWAYS_3_MS, queryMs = 1 }: Opened = {}) {
  let now = 0;
  const turns = new LoopTurns(limits, () => now);
  const ended: string[] = [];
  const run = async (query: string): Promise<void> => {
    const credential = query.slice(0, 1);
    const free = turns.enter(credential, group?.(credential));
    if (free) await free;
    now += queryMs;
    ended.push(query);
  };
  return { run, ended, wait: (ms: number) => (now += ms) };
}

test('queries that come one after the other begin at once', async () => {
  const { run, ended } = openTurns();
  for (const query of ['a1', 'a2', 'a3', 'a4']) {
    void run(query);
    expect(ended.at(-1)).toBe(query);
    await nextTurn();
    await nextTurn();
  }
});

test('concurrent queries are executed over several turns of the event loop, alternating between credentials', async () => {
  const { run, ended } = openTurns();
  for (const query of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8']) void run(query);
  expect(ended).toEqual(['a1', 'a2', 'a3']);
  for (const query of ['b1', 'b2', 'b3', 'b4', 'b5']) void run(query);
  const each: number[] = [];
  expect(ended.splice(0)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3']);
  for (let before = 0; ended.length < 7; before = ended.length) {
    if (ended.length > before && before > 0) each.push(ended.length - before);
    await nextTurn();
  }
  expect(Math.max(...each)).toBeLessThanOrEqual(3);
  expect(ended).toEqual(['a4', 'b4', 'a5', 'b5', 'a6', 'a7', 'a8']);
});

test('a query that would probably exceed the limit of the turn waits for the next turn', async () => {
  const { run, ended } = openTurns({ queryMs: 2 });
  const all = ['a1', 'a2', 'a3'].map(run);
  expect(ended).toEqual(['a1']);
  await Promise.all(all);
  expect(ended).toEqual(['a1', 'a2', 'a3']);
});

test('a later query does not overtake waiting queries', async () => {
  const { run, ended } = openTurns();
  const all = ['a1', 'a2', 'a3', 'a4'].map(run);
  await nextTurn();
  all.push(run('a5'));
  await Promise.all(all);
  expect(ended).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
});

test('while queries of one group wait, those of another group begin at once, within their own share', async () => {
  const { run, ended } = openTurns({
    group: (credential) => (credential < 'm' ? 'flood' : 'other'),
  });
  const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(run);
  all.push(...['w', 'x', 'y', 'z'].map(run));
  expect(ended.slice(3)).toEqual(['w', 'x', 'y']);
  // Another query of its group waits now, so this one takes turns with the flood.
  all.push(run('v'));
  await Promise.all(all);
  expect(ended.slice(6)).toEqual(['d', 'z', 'e', 'v', 'f', 'g']);
});

test('while other credentials of a group wait, a rarely used one begins at once, within its own share', async () => {
  const { run, ended } = openTurns({ group: () => 'all' });
  for (const query of ['u', 'v', 'w']) {
    void run(query);
    await nextTurn();
    await nextTurn();
  }
  ended.length = 0;
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map(run);
  // The first turn of `a` is after theirs; the last turn of `x` is unknown.
  all.push(...['u', 'x', 'v', 'w'].map(run));
  expect(ended.splice(0)).toEqual(['a1', 'a2', 'a3', 'u', 'v']);
  await Promise.all(all);
  expect(ended).toEqual(['w', 'x', 'a4', 'a5', 'a6']);
});

test('abandoned queries take no turn', async () => {
  const turns = new LoopTurns(always({ ms: Infinity, count: 2 }));
  const begun: string[] = [];
  let isGone = false;
  const enter = (query: string): void => {
    const free = turns.enter('a', 'a', () => isGone && query.startsWith('gone'));
    void (free ?? Promise.resolve()).then(() => begun.push(query));
  };
  for (let n = 0; n < 40; n += 1) enter(`gone ${n}`);
  for (const query of ['a1', 'a2', 'a3']) enter(query);
  isGone = true;
  let passed = 0;
  for (; begun.at(-1) !== 'a3'; passed += 1) await nextTurn();
  expect(begun).toHaveLength(43);
  expect(passed).toBeLessThan(5);
});

test('a limit can count begun queries instead of their time', async () => {
  const turns = new LoopTurns(always({ ms: Infinity, count: 2 }));
  expect(turns.enter('a')).toBe(undefined);
  expect(turns.enter('a')).toBe(undefined);
  const waits = turns.enter('a');
  expect(waits).not.toBe(undefined);
  expect(turns.enter('b')).toBe(undefined);
  await waits;
});

test.each([
  ['without groups', undefined],
  ['in a group', () => 'all'],
])('a credential that is alone has longer turns, %s', async (_, group) => {
  const limits = {
    alone: { ms: 10, count: Infinity },
    besideOthers: { ms: 3, count: Infinity },
  };
  const { run, ended, wait } = openTurns({ limits, ...(group && { group }) });
  const begunOf = async (queries: readonly string[]): Promise<number> => {
    await nextTurn();
    ended.length = 0;
    const all = queries.map(run);
    const begun = ended.length;
    await Promise.all(all);
    return begun;
  };
  const ofA = Array.from({ length: 12 }, (_, i) => `a${i}`);
  expect(await begunOf(ofA)).toBe(10);
  expect(await begunOf(['b1', ...ofA])).toBe(3);
  wait(1000);
  expect(await begunOf(ofA)).toBe(10);
});

test('a group that has used its share does not count as new', async () => {
  const turns = new LoopTurns(always({ ms: Infinity, count: 2 }));
  const begun: string[] = [];
  const enter = (name: string): void => {
    const free = turns.enter(name);
    if (free) void free.then(() => begun.push(name));
    else begun.push(name);
  };
  for (const names of [
    ['seldom', 'a'],
    ['b', 'c'],
  ]) {
    for (const name of names) enter(name);
    await nextTurn();
    await nextTurn();
  }
  begun.length = 0;
  // Two begin, and `c` waits.
  for (const name of ['a', 'b', 'c']) enter(name);
  enter('a');
  expect(begun).toEqual(['a', 'b']);
  for (const name of ['seldom', 'unknown', 'another']) enter(name);
  expect(begun).toEqual(['a', 'b', 'seldom', 'unknown']);
});
