import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareValues } from '../values/compare.ts';
import { double, isArray } from '../values/value.ts';
import type { Value } from '../values/value.ts';
import { elementsOf, endOf, pageOf, readBackwards, readForwards } from './testing/paging.ts';
import { documentRef, field, match, SetWorld } from './testing/set-world.ts';

const scalar: fc.Arbitrary<Value> = fc.oneof(
  fc.integer({ min: 0, max: 4 }),
  fc.constantFrom<Value>('a', 'b', '', 'a\0', true, false, null, double(2.5), double(3)),
);
const member = fc.oneof(scalar, fc.uniqueArray(scalar, { maxLength: 3 }));
const documentsOf = fc.array(fc.record({ t: scalar, v: member, w: member }), { maxLength: 12 });

const listOf = (value: Value): readonly Value[] => {
  const list = isArray(value) ? value.filter((each) => each !== null) : value === null ? [] : [value];
  return list.length === 0 ? [null] : list;
};

interface ModelEntry {
  readonly values: readonly Value[];
  readonly id: number;
}

/** What a match of the term `t` holds, the slow way. */
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

/** 2.5 and 3.0 beside 3: equal in order, told apart by no cursor. */
const hasTwins = (entries: readonly ModelEntry[]): boolean =>
  entries.some((a) =>
    entries.some((b) => a !== b && a.id === b.id && compareValues(a.values, b.values) === 0),
  );

test('paginate() gives the entries of a match in order, in pages of any size, both ways', () => {
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
      fc.pre(!hasTwins(model));
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
      const last = readBackwards(world, set, size, endOf(fields.map((_, i) => reversed[i] ?? false)));
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
