import { expect, test } from 'vitest';
import { documentKey, termsPrefix, type Key } from '../codec/key.ts';
import type { Range, RowAddress } from './port.ts';
import { prefixRange } from '../codec/ranges.ts';
import { scan } from './scan.ts';
import { changesOf, rangeName, SnapshotCache } from './snapshot-cache.ts';
import { readCounted } from './testing/read-counted.ts';

const key = documentKey(0, 1024, 1n);
const entriesOf = (terms: readonly number[]): Key[] =>
  terms.map((n) => termsPrefix(0, 32_768, [String(n)]));

test('changesOf() reads each entry of a row only a few times, even if there are a thousand', () => {
  const numbers = Array.from({ length: 1000 }, (_, n) => n);
  const had = readCounted(entriesOf(numbers));
  const has = readCounted(entriesOf(numbers.map((n) => n + 500)));
  const row = { key, entries: has.array, value: '' };
  const before = { key, entries: had.array, value: '' };
  const writes = { puts: [{ space: 'documents', row }], deletes: [] } as const;
  const { entries } = changesOf(writes, () => before, 1, 2);
  const ended = entriesOf(numbers.slice(0, 500));
  expect(entries.map((each) => each.key)).toEqual([
    ...ended,
    ...entriesOf(numbers.map((n) => n + 500)),
  ]);
  expect(had.reads() + has.reads()).toBeLessThan(5000);
});

test('absent rows count towards the limit with what they take in memory', () => {
  const address = (n: number): RowAddress => ({
    space: 'documents',
    key: documentKey(0, 1024, BigInt(n)),
  });
  const cache = new SnapshotCache(100_000);
  for (let n = 1; n <= 10_000; n += 1) cache.keepRow(address(n), undefined);
  expect(cache.row(address(10_000))).toBe(null);
  expect(cache.row(address(9000))).toBe(undefined);
});

test('empty ranges count towards the limit with what they take in memory', () => {
  const rangeOf = (space: 'documents' | 'history', n: number): Range => {
    const terms = prefixRange(termsPrefix(0, 32_768, [String(n)]));
    const by = space === 'documents' ? 'entry' : 'key';
    return scan(space, { ...terms, by }, { limit: 64, rows: space === 'history' });
  };
  for (const space of ['documents', 'history'] as const) {
    const cache = new SnapshotCache(400_000);
    const isKnown = (n: number): boolean => {
      const range = rangeOf(space, n);
      return cache.range(range, rangeName(range)) !== undefined;
    };
    for (let n = 1; n <= 10_000; n += 1) {
      const range = rangeOf(space, n);
      cache.keepRange(range, rangeName(range), []);
    }
    expect(isKnown(10_000)).toBe(true);
    const known = Array.from({ length: 10_000 }, (_, n) => n + 1).filter(isKnown).length;
    expect(known).toBeLessThan(1400);
  }
});
