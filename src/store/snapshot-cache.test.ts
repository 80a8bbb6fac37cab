import { expect, test } from 'vitest';
import { documentKey, termsPrefix, type Key } from '../codec/key.ts';
import { changesOf } from './snapshot-cache.ts';
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
