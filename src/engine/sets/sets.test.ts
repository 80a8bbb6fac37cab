import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareValues } from '../../values/compare.ts';
import { Ref } from '../../values/value.ts';
import type { SetValue, Value } from '../../values/value.ts';
import {
  cursorAt,
  elementsOf,
  endOf,
  pageOf,
  readBackwards,
  readForwards,
} from '../testing/paging.ts';
import { documentRef, documents, field, match, SetWorld } from '../testing/set-world.ts';

/** A slow model of sets: lists of tuples in order. */
interface Item {
  readonly values: readonly Value[] | undefined;
  readonly ref: Ref;
}
type Model = readonly Item[];

const keyOf = ({ values, ref }: Item): readonly Value[] => values ?? [ref];
const isEqual = (a: Item, b: Item): boolean => compareValues(keyOf(a), keyOf(b)) === 0;
const elementOf = ({ values, ref }: Item): Value =>
  values ? (values.length === 1 ? (values[0] ?? null) : values) : ref;

type Direction = 'up' | 'down';
const inOrder =
  (direction: Direction) =>
  (a: Item, b: Item): number =>
    compareValues(keyOf(a), keyOf(b)) * (direction === 'up' ? 1 : -1);

/** The runs of each member for each value, in the order of the values. */
function runsOf(members: readonly Model[], direction: Direction): readonly Model[][] {
  const firsts: Item[] = [];
  for (const item of members.flat())
    if (!firsts.some((each) => isEqual(each, item))) firsts.push(item);
  firsts.sort(inOrder(direction));
  return firsts.map((first) =>
    members.map((member) => member.filter((each) => isEqual(each, first))),
  );
}

const pick = (runs: readonly Model[], isBetter: (a: number, b: number) => boolean): Model =>
  runs.reduce((best, each) => (isBetter(each.length, best.length) ? each : best));

/** A set and its expected contents. */
interface Case {
  readonly set: SetValue;
  readonly model: Model;
}

interface Fixture {
  readonly world: SetWorld;
  leaf(kind: number, term: number, direction: Direction): Case;
  joined(source: Case, plain: boolean, direction: Direction): Case;
  filtered(inner: Case): Case;
}

interface Doc {
  readonly t: number;
  readonly v: readonly number[];
}

function fixtureOf(docs: readonly Doc[]): Fixture {
  const world = new SetWorld();
  const things = world.collection('things');
  const terms = [field('t')];
  const up = world.index('up', things, { terms, values: [field('v')] });
  const down = world.index('down', things, { terms, values: [field('v', { reverse: true })] });
  const plain = world.index('plain', things, { terms });
  docs.forEach(({ t, v }, id) => world.put(things, id, { t, v }));
  const even = world.lambda('even', (element) =>
    element instanceof Ref ? element.id % 2n === 0n : Number(element) % 2 === 0,
  );

  const refs = (accepts: (doc: Doc, id: number) => boolean): Model =>
    docs.flatMap((doc, id) =>
      accepts(doc, id) ? [{ values: undefined, ref: documentRef(things, id) }] : [],
    );
  const valued = (term: Value, direction: Direction): Model =>
    docs
      .flatMap(({ t, v }, id) =>
        t === term
          ? [...new Set(v)].map((each) => ({ values: [each], ref: documentRef(things, id) }))
          : [],
      )
      .sort(inOrder(direction));
  const backwards = ({ set, model }: Case): Case => ({
    set: { kind: 'set', op: 'reverse', set },
    model: model.toReversed(),
  });
  const turned = (inner: Case, direction: Direction): Case =>
    direction === 'up' ? inner : backwards(inner);

  return {
    world,
    leaf(kind, term, direction) {
      if (kind === 0) {
        const index = direction === 'up' ? up : down;
        return { set: match(index, term), model: valued(term, direction) };
      }
      if (kind === 1) {
        return turned({ set: match(plain, term), model: refs(({ t }) => t === term) }, direction);
      }
      if (kind === 2) return turned({ set: documents(things), model: refs(() => true) }, direction);
      const ref = documentRef(things, term);
      const set: SetValue = { kind: 'set', op: 'singleton', ref };
      return turned({ set, model: refs((_, id) => id === term) }, direction);
    },
    joined(source, isPlain, direction) {
      const index = isPlain ? plain : direction === 'up' ? up : down;
      const targets = source.model.map((item) => {
        const [term = null] = keyOf(item);
        return isPlain ? refs(({ t }) => t === term) : valued(term, direction);
      });
      const model = runsOf(targets, isPlain ? 'up' : direction).map((runs) =>
        runs.flat().reduce((first, each) => (each.ref.id < first.ref.id ? each : first)),
      );
      const set: SetValue = { kind: 'set', op: 'join', set: source.set, with: index };
      return turned({ set, model }, isPlain ? direction : 'up');
    },
    filtered({ set, model }) {
      return {
        set: { kind: 'set', op: 'filter', set, lambda: even },
        model: model.filter((item) => {
          const element = elementOf(item);
          return element instanceof Ref ? element.id % 2n === 0n : Number(element) % 2 === 0;
        }),
      };
    },
  };
}

type Recipe = (fixture: Fixture, direction: Direction) => Case;

const opposite = (direction: Direction): Direction => (direction === 'up' ? 'down' : 'up');

const { recipe } = fc.letrec<{ recipe: Recipe }>((tiebreaker) => {
  const inner = tiebreaker('recipe');
  const leaf: fc.Arbitrary<Recipe> = fc.tuple(fc.nat(3), fc.nat(3)).map(
    ([kind, term]): Recipe =>
      (fixture, direction) =>
        fixture.leaf(kind, term, direction),
  );
  const members = fc.array(inner, { minLength: 1, maxLength: 3 });
  const algebra = (
    op: 'union' | 'intersection' | 'difference',
    combine: (runs: readonly Model[]) => Model,
  ): fc.Arbitrary<Recipe> =>
    members.map((parts): Recipe => (fixture, direction) => {
      const cases = parts.map((part) => part(fixture, direction));
      return {
        set: { kind: 'set', op, sets: cases.map((each) => each.set) },
        model: runsOf(
          cases.map((each) => each.model),
          direction,
        ).flatMap(combine),
      };
    });
  const over = (
    build: (inner: Case, fixture: Fixture, direction: Direction) => Case,
    turn: (direction: Direction) => Direction = (direction) => direction,
  ): fc.Arbitrary<Recipe> =>
    inner.map(
      (part): Recipe =>
        (fixture, direction) =>
          build(part(fixture, turn(direction)), fixture, direction),
    );
  const distinct = over(({ set, model }) => ({
    set: { kind: 'set', op: 'distinct', set },
    model: model.filter((item, i) => i === 0 || !isEqual(item, model[i - 1] ?? item)),
  }));
  const reverse = over(
    ({ set, model }) => ({ set: { kind: 'set', op: 'reverse', set }, model: model.toReversed() }),
    opposite,
  );
  const filter = over((part, fixture) => fixture.filtered(part));
  const range = fc
    .tuple(inner, fc.nat(4), fc.nat(4))
    .map(([part, from, to]): Recipe => (fixture, direction) => {
      const { set, model } = part(fixture, direction);
      const sign = direction === 'up' ? 1 : -1;
      return {
        set: { kind: 'set', op: 'range', set, from: [from], to: [to] },
        model: model.filter((item) => {
          const [value = null] = keyOf(item);
          return compareValues(value, from) * sign >= 0 && compareValues(value, to) * sign <= 0;
        }),
      };
    });
  const join = fc.tuple(inner, fc.boolean()).map(
    ([part, plain]): Recipe =>
      (fixture, direction) =>
        fixture.joined(part(fixture, 'up'), plain, direction),
  );
  return {
    recipe: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      algebra('union', (runs) => pick(runs, (a, b) => a > b)),
      algebra('intersection', (runs) => pick(runs, (a, b) => a < b)),
      algebra('difference', ([first = [], ...others]) =>
        others.some((run) => run.length > 0) ? [] : first,
      ),
      distinct,
      reverse,
      filter,
      range,
      join,
    ),
  };
});

const docsOf = fc.array(
  fc.record({ t: fc.nat(3), v: fc.array(fc.nat(4), { minLength: 1, maxLength: 3 }) }),
  { maxLength: 10 },
);

test('paginate() and elements() give the same elements as a simple model of sets', () => {
  fc.assert(
    fc.property(
      docsOf,
      recipe,
      fc.constantFrom<Direction>('up', 'down'),
      fc.integer({ min: 1, max: 4 }),
      (docs, build, direction, size) => {
        const fixture = fixtureOf(docs);
        const { set, model } = build(fixture, direction);
        const { world } = fixture;
        const expected = model.map(elementOf);
        expect(elementsOf(world, set)).toEqual(expected);
        const end = endOf([direction === 'down']);
        const whole = pageOf(world, set);
        expect(whole.data).toEqual(expected);
        expect(pageOf(world, set, cursorAt('before', end)).cursors?.()).toEqual(whole.cursors?.());
        expect(readForwards(world, set, size)).toEqual(expected);
        expect(readBackwards(world, set, size, end)).toEqual(expected);
      },
    ),
    { numRuns: 300 },
  );
});
