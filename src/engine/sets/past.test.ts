import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../../errors.ts';
import { compareValues } from '../../values/compare.ts';
import { isKind, Ref, Time } from '../../values/value.ts';
import type { Event, Micros, SetValue, Value } from '../../values/value.ts';
import { elementsOf, pageOf } from '../testing/paging.ts';
import { documentRef, documents, field, match, object, SetWorld } from '../testing/set-world.ts';

type Step =
  | { readonly kind: 'put'; readonly id: number; readonly t: number; readonly v: readonly number[] }
  | { readonly kind: 'delete'; readonly id: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      id: fc.nat(3),
      t: fc.nat(1),
      v: fc.uniqueArray(fc.nat(2), { maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), id: fc.nat(3) }) },
);

interface Moment {
  readonly ts: Micros;
  readonly docs: ReadonlyMap<number, { readonly t: number; readonly v: readonly number[] }>;
}

/** A world with a history, and the expected contents at each time. */
function historyOf(steps: readonly Step[]) {
  const world = new SetWorld();
  const things = world.collection('things');
  const terms = [field('t')];
  const valued = world.index('valued', things, {
    terms,
    values: [field('v', { reverse: true }), field('ref')],
  });
  const plain = world.index('plain', things, { terms });
  const moments: Moment[] = [{ ts: world.now, docs: new Map() }];
  for (const each of steps) {
    const docs = new Map(moments.at(-1)?.docs);
    if (each.kind === 'put') {
      const { id, t, v } = each;
      docs.set(id, { t, v });
      world.put(things, id, { t, v });
    } else if (docs.delete(each.id)) world.remove(documentRef(things, each.id));
    moments.push({ ts: world.now, docs });
  }
  return { world, things, valued, plain, moments };
}

const byRef = (a: Ref, b: Ref): number => compareValues(a, b);

test('a set read at a past time has the elements that it had then', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.nat(1), (steps, term) => {
      const { world, things, valued, plain, moments } = historyOf(steps);
      for (const { ts, docs } of moments) {
        const refs = [...docs].map(([id]) => documentRef(things, id)).sort(byRef);
        const found = [...docs].filter(([, { t }]) => t === term);
        const tuples = found
          .flatMap(([id, { v }]) =>
            (v.length > 0 ? v : [null]).map((each): Value[] => [each, documentRef(things, id)]),
          )
          .sort(
            (a, b) =>
              compareValues(b[0] ?? null, a[0] ?? null) ||
              compareValues(a[1] ?? null, b[1] ?? null),
          );
        const plains = found.map(([id]) => documentRef(things, id)).sort(byRef);
        expect(elementsOf(world, match(valued, term), ts)).toEqual(tuples);
        expect(elementsOf(world, match(plain, term), ts)).toEqual(plains);
        expect(elementsOf(world, documents(things), ts)).toEqual(refs);
        const backwards: SetValue = { kind: 'set', op: 'reverse', set: documents(things) };
        expect(elementsOf(world, backwards, ts)).toEqual(refs.toReversed());
        const first = pageOf(world, match(valued, term), { time: ts, size: 1 });
        expect(first.data).toEqual(tuples.slice(0, 1));
      }
    }),
    { numRuns: 100 },
  );
});

/** Applies the listed events up to a time, starting with an empty set. */
function replay(events: readonly Value[], ts: Micros): string[] {
  const there = new Set<string>();
  for (const each of events) {
    if (!isKind(each, 'event')) throw new Error('a page of events holds something else');
    if (each.ts > ts) break;
    const name = nameOf(each);
    const wasThere = there.delete(name);
    expect(wasThere).toBe(each.action === 'remove');
    if (!wasThere) there.add(name);
  }
  return [...there].sort();
}

const nameOf = ({ document, data }: Pick<Event, 'document' | 'data'>): string =>
  JSON.stringify([String(document?.id), data === undefined ? [] : data], (_, each: unknown) =>
    typeof each === 'bigint' ? String(each) : each,
  );

const nameOfElement = (element: Value): string => {
  if (element instanceof Ref) return nameOf({ document: element, data: undefined });
  const list = element as readonly Value[];
  return nameOf({ document: list.at(-1) as Ref, data: list });
};

test('replaying the events of a set gives its elements at every time', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.nat(1), (steps, term) => {
      const { world, things, valued, plain, moments } = historyOf(steps);
      const combined = (op: 'intersection' | 'difference'): SetValue => ({
        kind: 'set',
        op,
        sets: [match(plain, term), match(plain, 1)],
      });
      const sets = [match(valued, term), match(plain, term), documents(things)];
      // A document may leave one member of the union and stay in the other.
      const members = [match(plain, term), documents(things)];
      const union: SetValue = { kind: 'set', op: 'union', sets: members };
      const distinct: SetValue = { kind: 'set', op: 'distinct', set: union };
      const derived: SetValue[] = [
        combined('intersection'),
        combined('difference'),
        { kind: 'set', op: 'intersection', sets: [documents(things), union] },
        { kind: 'set', op: 'difference', sets: [documents(things), distinct] },
      ];
      for (const set of [...sets, ...derived]) {
        const events = pageOf(world, set, { events: true, size: 1000 }).data;
        for (const { ts } of moments) {
          expect(replay(events, ts)).toEqual(elementsOf(world, set, ts).map(nameOfElement).sort());
        }
      }
    }),
    { numRuns: 100 },
  );
});

test('paginate() gives the same events page by page, in both directions, as on one page', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      (steps, size) => {
        const { world, things, valued, moments } = historyOf(steps);
        for (const target of [match(valued, 0), documents(things), documentRef(things, 0)]) {
          const set: SetValue = { kind: 'set', op: 'events', of: target };
          const all = pageOf(world, set, { size: 1000 }).data;
          const forwards: Value[] = [];
          let page = pageOf(world, set, { size });
          forwards.push(...page.data);
          while (page.after !== undefined) {
            const cursor = { side: 'after', value: page.after, steps: ['after'] } as const;
            page = pageOf(world, set, { size, cursor });
            forwards.push(...page.data);
          }
          expect(forwards).toEqual(all);
          const backwards: Value[] = [];
          page = pageOf(world, set, { size, cursor: { side: 'before', value: null, steps: [] } });
          backwards.unshift(...page.data);
          while (page.before !== undefined) {
            const cursor = { side: 'before', value: page.before, steps: ['before'] } as const;
            page = pageOf(world, set, { size, cursor });
            backwards.unshift(...page.data);
          }
          expect(backwards).toEqual(all);
          const past = moments[3]?.ts ?? world.now;
          const listed = all.filter((each) => isKind(each, 'event') && each.ts <= past);
          expect(pageOf(world, set, { time: past, size: 1000 }).data).toEqual(listed);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('reading a set before its retained history is refused, also through an index of the collection', () => {
  const world = new SetWorld();
  world.now = 1_700_000_000_000_000;
  const things = world.collection('things', { history_days: 0 });
  const index = world.index('all', things);
  const tooOld = world.now - 16 * 60 * 1_000_000;
  for (const set of [documents(things), match(index)]) {
    expect(() => elementsOf(world, set, tooOld)).toThrow(Refusal);
    expect(elementsOf(world, set, world.now - 1)).toEqual([]);
  }
});

test('events begin with the retained history, including an add exactly at its start', () => {
  const world = new SetWorld();
  const now = 1_700_000_000_000_000;
  const minimum = now - 15 * 60 * 1_000_000;
  const things = world.collection('things', { history_days: 0 });
  const index = world.index('all', things, { values: [field('v')] });
  world.put(things, 1, { v: 1 }, minimum - 5);
  world.put(things, 2, { v: 1 }, minimum);
  world.put(things, 1, { v: 2 }, minimum + 5);
  world.now = now;
  const listed = (target: SetValue | Ref) =>
    pageOf(world, target, { events: true }).data.map((each) =>
      isKind(each, 'event')
        ? [Number(each.ts) - minimum, each.action, Number(each.document?.id)]
        : each,
    );
  expect(listed(match(index))).toEqual([
    [0, 'add', 2],
    [5, 'remove', 1],
    [5, 'add', 1],
  ]);
  expect(listed(documents(things))).toEqual([[0, 'add', 2]]);
  expect(listed(documentRef(things, 1))).toEqual([
    [-5, 'create', 1],
    [5, 'update', 1],
  ]);
});

test('expired documents are in no set, and expiry makes no event', () => {
  const world = new SetWorld();
  const things = world.collection('things');
  const index = world.index('all', things, { values: [field('v')] });
  for (let id = 0; id < 5; id++) {
    const ttl = new Time(BigInt(id === 2 ? 2_000_000 : 9_000_000) * 1000n);
    world.write(documentRef(things, id), {
      data: object({ v: id }),
      ...(id % 2 === 0 ? { ttl } : {}),
    });
  }
  world.now = 3_000_000;
  const living = [0, 1, 3, 4].map((id) => documentRef(things, id));
  expect(elementsOf(world, documents(things))).toEqual(living);
  expect(elementsOf(world, match(index))).toEqual([0, 1, 3, 4]);
  expect(pageOf(world, documentRef(things, 2)).data).toEqual([]);
  expect(pageOf(world, documents(things), { events: true }).data).toHaveLength(5);
  world.now = 10_000_000;
  expect(elementsOf(world, documents(things))).toEqual([1, 3].map((id) => documentRef(things, id)));
});

test('a join has the events of a target set only while the source leads to it', () => {
  const world = new SetWorld();
  const follows = world.collection('follows');
  const posts = world.collection('posts');
  const followed = world.index('followed', follows, {
    terms: [field('by')],
    values: [field('who')],
  });
  const byAuthor = world.index('by_author', posts, { terms: [field('author')] });
  world.put(posts, 1, { author: 'ann' });
  const follow = world.put(follows, 1, { by: 'me', who: 'ann' });
  world.put(posts, 2, { author: 'ann' });
  world.put(posts, 3, { author: 'bob' });
  world.remove(follow);
  world.put(posts, 4, { author: 'ann' });
  const set: SetValue = { kind: 'set', op: 'join', set: match(followed, 'me'), with: byAuthor };
  const listed = pageOf(world, set, { events: true }).data.map((each) =>
    isKind(each, 'event') ? [each.action, Number(each.document?.id)] : each,
  );
  expect(listed).toEqual([['add', 2]]);
});

test('events of a difference with a distinct set show a value of several documents only once at a time', () => {
  const world = new SetWorld();
  const things = world.collection('things');
  const index = world.index('values', things, { terms: [field('t')], values: [field('v')] });
  const first = world.put(things, 1, { t: 0, v: 5 });
  const second = world.put(things, 2, { t: 0, v: 5 });
  world.remove(first);
  world.put(things, 3, { t: 1, v: 5 });
  const distinct: SetValue = { kind: 'set', op: 'distinct', set: match(index, 0) };
  const set: SetValue = { kind: 'set', op: 'difference', sets: [distinct, match(index, 1)] };
  const listed = pageOf(world, set, { events: true }).data.map((each) =>
    isKind(each, 'event') ? [each.action, each.document] : each,
  );
  expect(listed).toEqual([
    ['add', first],
    ['remove', first],
    ['add', second],
    ['remove', second],
  ]);
});

test('events of a union are the events of all its sets, and equal ones appear once', () => {
  const { world, things, plain } = historyOf([{ kind: 'put', id: 1, t: 1, v: [] }]);
  const sets = [match(plain, 1), documents(things)];
  const events = pageOf(world, { kind: 'set', op: 'union', sets }, { events: true, sources: true });
  expect(events.data).toMatchObject([
    { value: { action: 'add' }, sources: sets.map((of) => ({ op: 'events', of })) },
  ]);
});
