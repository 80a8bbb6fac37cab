import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Key } from '../codec/key.ts';
import { changesOf, SnapshotCache, rangeName, type Changes } from './snapshot-cache.ts';
import type { Entry, Range, Row, WriteSet } from './port.ts';

const LETTERS = 'abcdefgh'.split('');
const INDEX = 'an index';
const COLLECTION = 'a number';
const letter = fc.constantFrom(...LETTERS);
const keyAt = (name: string): Key => (COLLECTION + name) as Key;
const entryAt = (name: string): Key => (INDEX + name) as Key;

type Rows = ReadonlyMap<Key, Row>;

const ranges: fc.Arbitrary<Range> = fc
  .record({
    by: fc.constantFrom('entry' as const, 'key' as const),
    lower: letter,
    upper: fc.option(letter),
    reverse: fc.boolean(),
    limit: fc.integer({ min: 1, max: 6 }),
    rows: fc.boolean(),
    last: fc.boolean(),
  })
  .map(({ by, lower, upper, rows, last, ...more }): Range => {
    const group = by === 'entry' ? INDEX : COLLECTION;
    const end = upper === null ? '\xff' : upper + (last ? '\0' : '');
    const bounds = { lower: (group + lower) as Key, upper: (group + end) as Key };
    return { space: 'documents', by, ...bounds, rows, prefetch: true, ...more };
  });

const writes: fc.Arbitrary<WriteSet> = fc
  .uniqueArray(
    fc.record({ name: letter, entries: fc.option(fc.uniqueArray(letter, { maxLength: 3 })) }),
    { selector: ({ name }) => name, minLength: 1, maxLength: 3 },
  )
  .chain((changes) => fc.nat(1000).map((value) => ({ changes, value: String(value) })))
  .map(({ changes, value }) => ({
    puts: changes.flatMap(({ name, entries }) =>
      entries
        ? [
            {
              space: 'documents' as const,
              row: { key: keyAt(name), entries: entries.map(entryAt), value },
            },
          ]
        : [],
    ),
    deletes: changes.flatMap(({ name, entries }) =>
      entries ? [] : [{ space: 'documents' as const, key: keyAt(name) }],
    ),
  }));

type Step =
  | { readonly read: Range }
  | { readonly write: WriteSet; readonly by: 'this process' | 'another' };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: ranges.map((read) => ({ read })) },
    fc.record({ write: writes, by: fc.constantFrom('this process', 'another') }),
  ),
  { minLength: 1, maxLength: 40 },
);

const order = (a: Entry, b: Entry): number =>
  a.entry < b.entry ? -1 : a.entry > b.entry ? 1 : a.key < b.key ? -1 : 1;

function read(rows: Rows, range: Range): readonly Entry[] {
  const all = [...rows.values()].flatMap((row): Entry[] => {
    const entries = range.by === 'entry' ? row.entries : [row.key];
    return entries.map((entry) => ({ entry, key: row.key, row: range.rows ? row : undefined }));
  });
  const found = all
    .filter(({ entry }) => entry >= range.lower && entry < range.upper)
    .toSorted(order);
  return (range.reverse ? found.reverse() : found).slice(0, range.limit);
}

function written(rows: Rows, { puts, deletes }: WriteSet): Rows {
  const after = new Map(rows);
  for (const { row } of puts) after.set(row.key, row);
  for (const { key } of deletes) after.delete(key);
  return after;
}

const unknown = (changes: Changes): Changes => ({
  ...changes,
  rows: changes.rows.map((each) => ({ ...each, row: 'unknown' as const })),
});

/** A found entry may lack its row, but a row that it has must be the present one. */
function differencesOf(found: readonly Entry[], expected: readonly Entry[], rows: Rows): string[] {
  const places = (entries: readonly Entry[]) => entries.map(({ entry, key }) => entry + key).join();
  const wrong = found.filter(({ key, row }) => row && row !== rows.get(key));
  const isSame = places(found) === places(expected);
  return [
    ...(isSame ? [] : [`${places(found)} instead of ${places(expected)}`]),
    ...wrong.map(({ key }) => `${key} as it was`),
  ];
}

test('SnapshotCache.range() agrees with the store after any reads and writes', () => {
  fc.assert(
    fc.property(steps, fc.constantFrom(1_000, 4_000, 1_000_000), (all, bytesMax) => {
      const cache = new SnapshotCache(bytesMax);
      const differences: string[] = [];
      let rows: Rows = new Map();
      let head = 1;
      cache.forget(head);
      for (const step of all) {
        if ('read' in step) {
          const expected = read(rows, step.read);
          const name = rangeName(step.read);
          const found = cache.range(step.read, name);
          if (found) {
            differences.push(...differencesOf(found, expected, rows));
            continue;
          }
          const rest = cache.rest(step.read) ?? step.read;
          cache.keepRange(rest, rangeName(rest), read(rows, rest));
          const whole = cache.range(step.read, name);
          if (whole) differences.push(...differencesOf(whole, expected, rows));
          // Nothing was evicted, so the whole range must be cached.
          else if (bytesMax === 1_000_000) differences.push(`${rest.lower} is not the whole rest`);
          continue;
        }
        const before = rows;
        const changes = changesOf(step.write, ({ key }) => before.get(key), head, head + 1);
        cache.advance(step.by === 'another' ? unknown(changes) : changes);
        rows = written(rows, step.write);
        head += 1;
      }
      expect(differences).toEqual([]);
    }),
    { numRuns: 2000 },
  );
});

const rangeFrom = (lower: string, limit: number, upper = '\xff'): Range => ({
  space: 'documents',
  by: 'entry',
  lower: entryAt(lower),
  upper: entryAt(upper),
  reverse: false,
  limit,
  rows: true,
  prefetch: true,
});

function knowing(rows: Rows, range: Range): SnapshotCache {
  const cache = new SnapshotCache(1_000_000);
  cache.forget(1);
  cache.keepRange(range, rangeName(range), read(rows, range));
  return cache;
}

const ten: Rows = new Map(
  'abcdefghij'
    .split('')
    .map((name) => [keyAt(name), { key: keyAt(name), entries: [entryAt(name)], value: name }]),
);

const find = (cache: SnapshotCache, range: Range): string | undefined =>
  cache
    .range(range, rangeName(range))
    ?.map(({ row }) => row?.value)
    .join('');

test('SnapshotCache.range() finds pages of other sizes and directions within a range that was read', () => {
  const cache = knowing(ten, rangeFrom('b', 7));
  expect(find(cache, rangeFrom('c', 3))).toBe('cde');
  expect(find(cache, { ...rangeFrom('b', 4, 'g'), reverse: true })).toBe('fedc');
  expect(find(cache, rangeFrom('g', 3))).toBe(undefined);
});

test('SnapshotCache.range() joins adjacent ranges that were read', () => {
  const cache = knowing(ten, rangeFrom('a', 4));
  const next = rangeFrom('d', 5);
  cache.keepRange(next, rangeName(next), read(ten, next));
  expect(find(cache, rangeFrom('b', 6))).toBe('bcdefg');
});

test('SnapshotCache.rest() begins after the entries that remain of a range that was read', () => {
  const cache = knowing(ten, rangeFrom('a', 3));
  const deletes = ['a', 'b'].map((name) => ({ space: 'documents' as const, key: keyAt(name) }));
  const changes = changesOf({ puts: [], deletes }, ({ key }) => ten.get(key), 1, 2);
  cache.advance(changes);
  expect(cache.rest(rangeFrom('a', 1))).toBe(undefined);
  expect(cache.rest(rangeFrom('a', 3))).toMatchObject({ lower: entryAt('c'), limit: 3 });
  const last = knowing(ten, { ...rangeFrom('a', 3), reverse: true });
  expect(last.rest({ ...rangeFrom('a', 5), reverse: true })).toMatchObject({
    upper: `${entryAt('h')}\0`,
    limit: 3,
  });
});

test('SnapshotCache.advance() keeps the ranges around a commit of this process, and adds its rows', () => {
  const cache = knowing(ten, rangeFrom('a', 8));
  const moved = { key: keyAt('c'), entries: [entryAt('ee')], value: 'C' };
  const write: WriteSet = {
    puts: [{ space: 'documents', row: moved }],
    deletes: [{ space: 'documents', key: keyAt('b') }],
  };
  cache.advance(changesOf(write, ({ key }) => ten.get(key), 1, 2));
  expect(find(cache, rangeFrom('a', 6))).toBe('adeCfg');
});

test('SnapshotCache.advance() forgets only the places of rows that another process has changed', () => {
  const cache = knowing(ten, rangeFrom('a', 8));
  const write: WriteSet = { puts: [], deletes: [{ space: 'documents', key: keyAt('c') }] };
  cache.advance(unknown(changesOf(write, ({ key }) => ten.get(key), 1, 2)));
  expect(find(cache, rangeFrom('a', 2))).toBe('ab');
  expect(find(cache, rangeFrom('a', 3))).toBe(undefined);
  expect(find(cache, rangeFrom('d', 4))).toBe('defg');
});
