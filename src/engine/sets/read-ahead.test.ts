/**
 * When several members of a set need their next batch at about the same time, the batches are fetched together. The tests count fetches.
 */
import { expect, test } from 'vitest';
import { Suspended, type Need } from '../../store/reader.ts';
import { Ref, type SetValue } from '../../values/value.ts';
import { field, match, SetWorld } from '../testing/set-world.ts';
import { elements } from './pages.ts';
import { RunMerge } from './run-merge.ts';
import type { SetCursor } from './set-cursor.ts';
import { RefTuple } from './tuple.ts';

const MEMBERS = 40;
/** More entries than the first batch has, and fewer than the first two. */
const ENTRIES = 100;

/**
 * `MEMBERS` matches. Entry `n` of a member has the value `valueOf(n, member)`. Also returns the documents with the terms of all matches.
 */
function matchesOf(valueOf: (n: number, member: number) => number) {
  const world = new SetWorld();
  const people = world.collection('people');
  const byTerm = world.index('people_by_term', people, {
    terms: [field('term')],
    values: [field('at')],
  });
  const terms = world.index('terms', people, { values: [field('term')] });
  for (let member = 0; member < MEMBERS; member += 1) {
    for (let n = 0; n < ENTRIES; n += 1) {
      const id = 1 + member * ENTRIES + n;
      world.put(people, id, { term: member, at: valueOf(n, member) });
    }
  }
  const sets = Array.from({ length: MEMBERS }, (_, member) => match(byTerm, member));
  return { world, sets, byTerm, terms };
}

/** The number of fetches when a fold reads the set. */
function fetchesOf(world: SetWorld, set: SetValue, count: number): number {
  const read = world.read((context) => [...elements(context, set, 'present', undefined, 'count')]);
  expect(read).toHaveLength(count);
  return world.fetches.length;
}

const all = (op: 'union' | 'intersection' | 'difference', sets: readonly SetValue[]): SetValue => ({
  kind: 'set',
  op,
  sets,
});

test('a union or join fetches the next batches of all members together when they run out one after another', () => {
  const even = (n: number, member: number): number =>
    n * MEMBERS + ((member * 7 + n * 3) % MEMBERS);
  const { world, sets, byTerm, terms } = matchesOf(even);
  // One fetch for the schema, one for the first batches, one for the second batches. Before, each member needed one more.
  expect(fetchesOf(world, all('union', sets), MEMBERS * ENTRIES)).toBe(3);
  const join: SetValue = { kind: 'set', op: 'join', set: match(terms), with: byTerm };
  expect(fetchesOf(world, join, MEMBERS * ENTRIES)).toBeLessThanOrEqual(6);
  expect(fetchesOf(world, { kind: 'set', op: 'distinct', set: all('union', sets) }, 4000)).toBe(3);
  // These request the next batches of all members that are behind at once, and skip.
  expect(fetchesOf(world, all('intersection', sets), 0)).toBeLessThanOrEqual(4);
  expect(fetchesOf(world, all('difference', sets), ENTRIES)).toBeLessThanOrEqual(6);
});

test('members that are read at different speeds are fetched ahead when most of their batch has been read', () => {
  const { world, sets } = matchesOf((n, member) => n * (member + 1) * 40 + member);
  expect(fetchesOf(world, all('union', sets), MEMBERS * ENTRIES)).toBeLessThanOrEqual(8);
  const nested = Array.from({ length: 5 }, (_, n) => all('union', sets.slice(n * 8, n * 8 + 8)));
  expect(fetchesOf(world, all('union', nested), MEMBERS * ENTRIES)).toBeLessThanOrEqual(9);
});

/** A cursor with one batch of `size` tuples. The next batch has to be fetched. */
function cursorOf(name: number, size: number, ask: (name: number) => Need): SetCursor {
  const batch = Array.from({ length: size }, (_, n) => new RefTuple(new Ref(1, 1, BigInt(n)), []));
  let pulls = 0;
  return {
    pull() {
      pulls += 1;
      if (pulls > 1) throw new Suspended([ask(name)]);
      return batch;
    },
    narrow: () => undefined,
  };
}

/** The number of members whose next batch is requested when the first one needs its next batch. */
function askedFor(sizes: readonly number[]): number {
  const need = { kind: 'row', address: { space: 'documents', key: '' } } as Need;
  const asked = new Set<number>();
  const ask = (name: number): Need => {
    asked.add(name);
    return need;
  };
  const merge = new RunMerge(
    sizes.map((size, name) => cursorOf(name, size, ask)),
    false,
  );
  const readOn = (): void => {
    while (merge.next());
  };
  expect(readOn).toThrow(Suspended);
  return asked.size;
}

test('fetching ahead is limited in size, and omits members with more than half of their batch left', () => {
  expect(askedFor([64, 100, 128, 130, 1000])).toBe(3);
  // Each of these members would read 80,000 entries.
  expect(askedFor([10_000, ...Array.from({ length: 10 }, () => 10_001)])).toBe(3);
});
