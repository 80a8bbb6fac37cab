import { expect, test } from 'vitest';
import { metaKey } from '../codec/key.ts';
import { EVERY_KEY } from '../codec/ranges.ts';
import type { Entry, Range } from './port.ts';
import { entriesIn, rangeAfter, scan } from './scan.ts';

const ENTRIES: readonly Entry[] = ['a', 'b', 'c', 'd', 'e'].map((name) => {
  const key = metaKey(name);
  return { entry: key, key, row: undefined };
});

function readerOf(entries: readonly Entry[]) {
  const limits: number[] = [];
  const range = ({ lower, upper, reverse, limit }: Range): readonly Entry[] => {
    limits.push(limit);
    const inside = entries.filter(({ entry }) => entry >= lower && entry < upper);
    return (reverse ? inside.toReversed() : inside).slice(0, limit);
  };
  return { limits, range };
}

test('entriesIn() returns every entry once, in both directions and with any limit', () => {
  for (const limit of [1, 2, 3, 4, 5, 6]) {
    const upwards = scan('meta', EVERY_KEY, { limit });
    expect([...entriesIn(readerOf(ENTRIES), upwards)]).toEqual(ENTRIES);
    const downwards = { ...upwards, reverse: true };
    expect([...entriesIn(readerOf(ENTRIES), downwards)]).toEqual(ENTRIES.toReversed());
  }
});

test('entriesIn() multiplies the limit by the given factor with each read', () => {
  const reader = readerOf(ENTRIES);
  expect([...entriesIn(reader, scan('meta', EVERY_KEY, { limit: 1 }), 3)]).toEqual(ENTRIES);
  expect(reader.limits).toEqual([1, 3, 9]);
});

test('rangeAfter() excludes the entry and all before it', () => {
  const [, second] = ENTRIES;
  if (!second) throw new Error('no entry');
  const { range } = readerOf(ENTRIES);
  const all = scan('meta', EVERY_KEY);
  expect(range(rangeAfter(all, second))).toEqual(ENTRIES.slice(2));
  expect(range(rangeAfter({ ...all, reverse: true }, second))).toEqual(ENTRIES.slice(0, 1));
});
