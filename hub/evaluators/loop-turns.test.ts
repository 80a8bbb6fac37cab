import { expect, test } from 'vitest';
import { LoopTurns } from './loop-turns.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Each query takes 4 ms of a clock that nothing else moves. */
function openTurns() {
  let now = 0;
  const turns = new LoopTurns(() => now);
  const ended: string[] = [];
  const run = async (query: string): Promise<void> => {
    const free = turns.enter(query.slice(0, 1));
    if (free) await free;
    now += 4;
    ended.push(query);
  };
  return { run, ended };
}

test('one query after the other begins at once', async () => {
  const { run, ended } = openTurns();
  for (const query of ['a1', 'a2', 'a3', 'a4']) {
    void run(query);
    expect(ended.at(-1)).toBe(query);
    await nextTurn();
    await nextTurn();
  }
});

test('queries that come at once are executed over several turns of the event loop, credential by credential', async () => {
  const { run, ended } = openTurns();
  for (const query of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'b1', 'b2']) void run(query);
  expect(ended).toEqual(['a1', 'a2', 'a3']);
  const each: number[] = [];
  for (let before = 0; ended.length < 9; before = ended.length) {
    if (ended.length > before && before > 0) each.push(ended.length - before);
    await nextTurn();
  }
  expect(Math.max(...each)).toBeLessThanOrEqual(3);
  expect(ended.slice(3)).toEqual(['a4', 'b1', 'a5', 'b2', 'a6', 'a7']);
});

test('who comes later does not overtake those that wait', async () => {
  const { run, ended } = openTurns();
  const all = ['a1', 'a2', 'a3', 'a4'].map(run);
  await nextTurn();
  all.push(run('a5'));
  await Promise.all(all);
  expect(ended).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
});

test('a group of credentials that wait has one share, however many they are', async () => {
  let now = 0;
  const turns = new LoopTurns(() => now);
  const ended: string[] = [];
  const run = async (name: string, group: string): Promise<void> => {
    const free = turns.enter(name, group);
    if (free) await free;
    now += 4;
    ended.push(name);
  };
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'].map((name) => run(name, 'a'));
  all.push(run('b', 'b'));
  await Promise.all(all);
  expect(ended.slice(3, 5)).toEqual(['a4', 'b']);
});
