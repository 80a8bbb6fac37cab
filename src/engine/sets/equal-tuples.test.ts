import { expect, test } from 'vitest';
import { Double, type SetValue, type Value } from '../../values/value.ts';
import { cursorAt, elementsOf, pageOf, readBackwards, readForwards } from '../testing/paging.ts';
import { documentRef, field, match, SetWorld } from '../testing/set-world.ts';

test('1 and 1.0 in one document are two tuples, and pages of any size show each of them once', () => {
  const w = new SetWorld();
  const things = w.collection('things');
  const up = match(w.index('up', things, { values: [field('v')] }));
  const again = match(w.index('again', things, { values: [field('v')] }));
  const down = match(w.index('down', things, { values: [field('v', { reverse: true })] }));
  const one = new Double(1);
  w.put(things, 1, { v: [1, one, 2, new Double(2), 3] });
  w.put(things, 2, { v: [one, 1] });
  const sets: readonly (readonly [SetValue, number | null])[] = [
    [up, null],
    [down, -Infinity],
    [{ kind: 'set', op: 'reverse', set: up }, -Infinity],
    [{ kind: 'set', op: 'union', sets: [up, again] }, null],
    [{ kind: 'set', op: 'range', set: up, from: [1], to: [2] }, null],
  ];
  for (const [set, last] of sets) {
    const all = elementsOf(w, set);
    expect(all).toHaveLength(set.op === 'range' ? 6 : 7);
    for (const size of [1, 2, 3, 4, 5]) {
      expect(readForwards(w, set, size)).toEqual(all);
      expect(readBackwards(w, set, size, last)).toEqual(all);
    }
  }
  // A cursor without the bytes that distinguish the two tuples is before both, whichever value it contains.
  for (const value of [1, one]) {
    const cursor = cursorAt('after', [value, documentRef(things, 1)]);
    expect(pageOf(w, up, cursor).data).toHaveLength(7);
  }
});

test('distinct over a union of single values and pairs keeps all pairs with the same first value', () => {
  const w = new SetWorld();
  const things = w.collection('things');
  const short = match(w.index('short', things, { values: [field('v')] }));
  const long = match(w.index('long', things, { values: [field('v'), field('n')] }));
  const count = 200;
  for (let n = 1; n <= count; n++) w.put(things, n, { v: 1, n });
  const union: SetValue = { kind: 'set', op: 'union', sets: [short, long] };
  const expected = [1, ...Array.from({ length: count }, (_, i) => [1, i + 1])];
  expect(elementsOf(w, { kind: 'set', op: 'distinct', set: union })).toEqual(expected);
  const turned: SetValue = { kind: 'set', op: 'reverse', set: union };
  expect(elementsOf(w, { kind: 'set', op: 'distinct', set: turned })).toEqual(
    expected.toReversed(),
  );
});

test('a reversed union of single values and pairs can be combined with other sets, and shows each tuple once', () => {
  const w = new SetWorld();
  const things = w.collection('things');
  const indexOf = (name: string, values: readonly string[], reverse = false) =>
    match(
      w.index(name, things, {
        values: values.map((each) => field(each, reverse ? { reverse } : {})),
      }),
    );
  const mixed: SetValue = {
    kind: 'set',
    op: 'union',
    sets: [indexOf('short', ['v']), indexOf('long', ['v', 'n'])],
  };
  const down = indexOf('down', ['v', 'n'], true);
  for (let n = 1; n <= 3; n++) w.put(things, n, { v: n, n });
  const turned: SetValue = { kind: 'set', op: 'reverse', set: mixed };
  const backwards = [[3, 3], 3, [2, 2], 2, [1, 1], 1];
  const of = (op: 'union' | 'intersection' | 'difference', ...sets: SetValue[]): SetValue => ({
    kind: 'set',
    op,
    sets,
  });
  const cases: readonly (readonly [SetValue, readonly Value[]])[] = [
    [turned, backwards],
    [{ kind: 'set', op: 'distinct', set: turned }, backwards],
    [{ kind: 'set', op: 'reverse', set: turned }, backwards.toReversed()],
    [of('union', turned), [3, [3, 3], 2, [2, 2], 1, [1, 1]]],
    [of('union', turned, down), [3, [3, 3], 2, [2, 2], 1, [1, 1]]],
    [
      of('intersection', down, turned),
      [
        [3, 3],
        [2, 2],
        [1, 1],
      ],
    ],
    [of('difference', turned, down), [3, 2, 1]],
    [of('difference', down, turned), []],
  ];
  for (const [set, expected] of cases) {
    expect(elementsOf(w, set)).toEqual(expected);
    for (const size of [1, 2, 4]) {
      expect(readForwards(w, set, size)).toEqual(expected);
      expect(readBackwards(w, set, size, [-Infinity])).toEqual(
        set.op === 'reverse' && set.set === turned ? [] : expected,
      );
    }
  }
});
