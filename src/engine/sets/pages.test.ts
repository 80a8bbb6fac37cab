import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { QueryFailure } from '../../errors.ts';
import type { PageOptions } from '../../query/session.ts';
import { compareValues } from '../../values/compare.ts';
import { double, isArray } from '../../values/value.ts';
import type { Ref, SetValue, Value } from '../../values/value.ts';
import { firstRef, setContains } from './pages.ts';
import { harbour } from '../testing/harbour.ts';
import { elementsOf, endOf, pageOf, readBackwards, readForwards } from '../testing/paging.ts';
import { documentRef, documents, field, match, SetWorld } from '../testing/set-world.ts';

const scalar: fc.Arbitrary<Value> = fc.oneof(
  fc.integer({ min: 0, max: 4 }),
  fc.constantFrom<Value>('a', 'b', '', 'a\0', true, false, null, double(2.5), double(3)),
);
const member = fc.oneof(scalar, fc.uniqueArray(scalar, { maxLength: 3 }));
const documentsOf = fc.array(fc.record({ t: scalar, v: member, w: member }), { maxLength: 12 });

const listOf = (value: Value): readonly Value[] => {
  const list = isArray(value)
    ? value.filter((each) => each !== null)
    : value === null
      ? []
      : [value];
  return list.length === 0 ? [null] : list;
};

interface ModelEntry {
  readonly values: readonly Value[];
  readonly id: number;
}

/** The expected entries of a match of the term `t`, computed the slow way. */
function modelOf(
  docs: readonly { readonly t: Value; readonly v: Value; readonly w: Value }[],
  term: Value,
  fields: readonly ('v' | 'w')[],
  reversed: readonly boolean[],
): readonly ModelEntry[] {
  const entries: ModelEntry[] = [];
  docs.forEach((doc, id) => {
    if (compareValues(doc.t, term) !== 0 || typeof doc.t !== typeof term || term === null) return;
    let tuples: Value[][] = [[]];
    for (const name of fields) {
      tuples = tuples.flatMap((tuple) => listOf(doc[name]).map((each) => [...tuple, each]));
    }
    for (const values of tuples) {
      if (values.length > 0 && values.every((each) => each === null)) continue;
      entries.push({ values, id });
    }
  });
  return entries.sort((a, b) => {
    for (const [i, value] of a.values.entries()) {
      const order = compareValues(value, b.values[i] ?? null);
      if (order !== 0) return reversed[i] ? -order : order;
    }
    return a.id - b.id;
  });
}

/** Whether there are values such as 3 and 3.0, which are equal in order, so that no cursor can distinguish them. */
const hasEqualTuples = (entries: readonly ModelEntry[]): boolean =>
  entries.some((a) =>
    entries.some((b) => a !== b && a.id === b.id && compareValues(a.values, b.values) === 0),
  );

test('paginate() gives the entries of a match in order, in pages of any size, in both directions', () => {
  const shapes = fc.record({
    fields: fc.constantFrom<('v' | 'w')[]>([], ['v'], ['v', 'w']),
    reversed: fc.tuple(fc.boolean(), fc.boolean()),
  });
  fc.assert(
    fc.property(documentsOf, shapes, fc.integer({ min: 1, max: 5 }), (docs, shape, size) => {
      const world = new SetWorld();
      const collection = world.collection('things');
      const { fields, reversed } = shape;
      const index = world.index('by_t', collection, {
        terms: [field('t')],
        values: fields.map((name, i) => field(name, { reverse: reversed[i] ?? false })),
      });
      docs.forEach(({ t, v, w }, id) => world.put(collection, id, withoutNulls({ t, v, w })));
      const term = docs[0]?.t ?? 1;
      const model = modelOf(docs, term, fields, reversed);
      fc.pre(!hasEqualTuples(model));
      const expected = model.map(({ values, id }) =>
        values.length === 0
          ? documentRef(collection, id)
          : values.length === 1
            ? values[0]
            : values,
      );
      const set = match(index, term);
      expect(pageOf(world, set).data).toEqual(expected);
      expect(readForwards(world, set, size)).toEqual(expected);
      const last = readBackwards(
        world,
        set,
        size,
        endOf(fields.map((_, i) => reversed[i] ?? false)),
      );
      expect(last).toEqual(expected);
      expect(elementsOf(world, set)).toEqual(expected);
    }),
    { numRuns: 150 },
  );
});

const withoutNulls = (data: Readonly<Record<string, Value>>): Record<string, Value> =>
  Object.fromEntries(
    Object.entries(data)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, isArray(value) ? value.filter((each) => each !== null) : value]),
  );

test('paginate() shows the sources of each element, and all sources of equal elements', () => {
  const { world, lens, plain, boat } = harbour();
  const one = match(lens, 'oslo');
  const [first] = pageOf(world, one, { sources: true, size: 1 }).data;
  expect(first).toEqual({ kind: 'sourced', value: 7, sources: [one] });
  const both = [match(plain, 'oslo'), documents(harbour().boats)];
  const union: SetValue = { kind: 'set', op: 'union', sets: both };
  expect(pageOf(world, union, { sources: true, size: 1 }).data).toEqual([
    { kind: 'sourced', value: boat(1), sources: both },
  ]);
  const events = pageOf(world, boat(1), { sources: true, events: true }).data;
  expect(events).toMatchObject([{ sources: [{ op: 'events', of: boat(1) }] }]);
});

test('a page of a match takes one range request, which fetches rows only for a small page of refs', () => {
  const { world, lens, plain, boats } = harbour();
  for (let id = 100; id < 400; id++) world.put(boats, id, { port: 'oslo', len: id });
  const rangesOf = (set: SetValue, options: Partial<PageOptions> = {}) => {
    pageOf(world, set, options);
    return world.fetches
      .slice(1)
      .map((needs) =>
        needs.map((need) => need.kind === 'range' && [need.range.limit, need.range.rows]),
      );
  };
  expect(rangesOf(match(plain, 'oslo'))).toEqual([[[65, true]]]);
  expect(rangesOf(match(lens, 'oslo'))).toEqual([[[65, false]]]);
  expect(rangesOf(match(plain, 'oslo'), { size: 5000 })).toEqual([[[5001, false]]]);
  expect(rangesOf(match(plain, 'bergen'))).toEqual([[[65, true]]]);
  // The expired documents are also requested, and are then cached for all later queries.
  expect(rangesOf(documents(boats))).toEqual([
    [
      [256, false],
      [65, true],
    ],
  ]);
  const union: SetValue = {
    kind: 'set',
    op: 'union',
    sets: [match(plain, 'oslo'), match(plain, 'bergen')],
  };
  expect(rangesOf(union)).toEqual([
    [
      [66, true],
      [66, true],
    ],
  ]);
});

test('pages of a set stay full when permissions hide some of its entries', () => {
  const { world, plain, lens, boats, boat } = harbour();
  for (let id = 10; id < 200; id++) world.put(boats, id, { port: 'oslo', len: id });
  const even = (ref: Ref) => ref.id % 2n === 0n;
  world.permissions = {
    may: (request) =>
      request.action === 'read' || request.action === 'read_entry'
        ? even(request.ref)
        : request.action === 'read_index',
  };
  const page = pageOf(world, match(plain, 'oslo'), { size: 5 });
  expect(page.data).toEqual([2, 10, 12, 14, 16].map(boat));
  expect(page.after).toEqual([boat(18)]);
  expect(elementsOf(world, documents(boats))).toHaveLength(96);
  const joined: SetValue = { kind: 'set', op: 'join', set: match(plain, 'oslo'), with: lens };
  expect(elementsOf(world, joined)).toEqual([]);
});

test('paginate() of an unreadable set is denied; unreadable parts of a set are left out', () => {
  const { world, plain, lens, boat } = harbour();
  const open = match(plain, 'oslo');
  const closed = match(lens, 'oslo');
  world.permissions = {
    may: (accessRequest) =>
      accessRequest.action === 'read_index' ? accessRequest.index.ref.id === plain.id : true,
  };
  const denied = (set: SetValue | Ref): unknown => {
    try {
      return pageOf(world, set).data;
    } catch (reason) {
      return reason instanceof QueryFailure && [reason.faults[0]?.code, reason.faults[0]?.position];
    }
  };
  const combined = (
    op: 'union' | 'intersection' | 'difference',
    ...sets: readonly SetValue[]
  ): SetValue => ({ kind: 'set', op, sets });
  const all = [1, 2, 3, 5].map(boat);
  const no = ['permission denied', ['paginate']];
  expect(denied(closed)).toEqual(no);
  expect(denied(combined('union', open, closed))).toEqual(all);
  expect(denied(combined('intersection', closed, open))).toEqual(all);
  expect(denied(combined('intersection', closed, closed))).toEqual(no);
  expect(denied(combined('difference', open, closed))).toEqual(all);
  expect(denied(combined('difference', closed, open))).toEqual(no);
  expect(denied({ kind: 'set', op: 'join', set: open, with: lens })).toEqual([]);
  world.permissions = { may: ({ action }) => action !== 'history_read' };
  expect(denied(boat(1))).toEqual(no);
  expect(denied({ kind: 'set', op: 'singleton', ref: boat(1) })).toEqual([boat(1)]);
  expect(denied({ kind: 'set', op: 'events', of: boat(1) })).toEqual(no);
});

test('firstRef() finds the first document of a set; setContains() compares whole elements', () => {
  const { world, plain, lens, boat } = harbour();
  const first = (set: SetValue) =>
    world.read((context) => firstRef(context, set, 'present', undefined, 'get'));
  expect(first(match(lens, 'oslo'))).toEqual(boat(2));
  expect(first({ kind: 'set', op: 'reverse', set: match(plain, 'oslo') })).toEqual(boat(5));
  expect(first(match(lens, 'bergen'))).toBeUndefined();
  const has = (set: SetValue, value: Value) =>
    world.read((context) => setContains(context, set, value, 'present', undefined));
  expect(
    [7, 8, [7, boat(5)], [7, boat(1)]].map((value) => has(match(lens, 'oslo'), value)),
  ).toEqual([true, false, false, false]);
  expect([boat(3), boat(4)].map((value) => has(match(plain, 'oslo'), value))).toEqual([
    true,
    false,
  ]);
});
