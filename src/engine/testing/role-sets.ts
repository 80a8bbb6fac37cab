/** Sets as data: their wire form, and what a role sees of them. */
import * as fc from 'fast-check';
import { unreachable } from '../../errors.ts';
import { coll, doc, type Query } from './engine-world.ts';
import {
  COLLECTIONS,
  HAS_TERM,
  IDS,
  INDEXES,
  isLowTerm,
  type CollectionName,
  type IndexName,
  type Role,
} from './role-worlds.ts';

export type SetQuery =
  | { readonly op: 'match'; readonly index: IndexName; readonly term: number }
  | { readonly op: 'documents'; readonly of: CollectionName }
  | { readonly op: 'singleton'; readonly of: CollectionName; readonly id: number }
  | {
      readonly op: 'union' | 'intersection' | 'difference';
      readonly sets: readonly SetQuery[];
    }
  | { readonly op: 'distinct' | 'reverse'; readonly set: SetQuery }
  | { readonly op: 'filter' | 'range'; readonly set: SetQuery; readonly value: number }
  | {
      readonly op: 'join';
      readonly set: SetQuery;
      readonly index: IndexName;
      /** For which terms the join has a target. */
      readonly terms: 'none' | 'some' | 'all';
    };

export const setQuery = (hasOpen: boolean): fc.Arbitrary<SetQuery> =>
  fc.letrec<{ set: SetQuery; leaf: SetQuery }>((tie) => {
    const set = tie('set');
    const of = fc.constantFrom(...COLLECTIONS);
    const index = fc.constantFrom(...INDEXES);
    const match = fc.record({ op: fc.constant('match' as const), index, term: fc.nat(2) });
    const documents = fc.record({ op: fc.constant('documents' as const), of });
    const id = fc.integer({ min: 1, max: IDS });
    const singleton = fc.record({ op: fc.constant('singleton' as const), of, id });
    const algebra = fc.record({
      op: fc.constantFrom('union' as const, 'intersection' as const, 'difference' as const),
      sets: fc.array(set, { minLength: 1, maxLength: 3 }),
    });
    const wrapped = fc.record({ op: fc.constantFrom('distinct' as const), set });
    const cut = fc.record({
      op: fc.constantFrom('filter' as const, 'range' as const),
      set,
      value: fc.nat(3),
    });
    const ofNumbers = fc.record({
      op: fc.constant('match' as const),
      index: fc.constantFrom<IndexName>('b_up', 'b_by_a'),
      term: fc.nat(2),
    });
    const join = fc.record({
      op: fc.constant('join' as const),
      set: fc.oneof(ofNumbers, ofNumbers, set),
      index: fc.constantFrom<IndexName>('by_a', 'b_by_a'),
      terms: fc.constant('all' as const),
    });
    return {
      leaf: hasOpen ? fc.oneof(match, documents) : fc.oneof(match, match, documents, singleton),
      set: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        tie('leaf'),
        tie('leaf'),
        algebra,
        algebra,
        wrapped,
        cut,
        ...(hasOpen ? [] : [join, join]),
      ),
    };
  }).set;

export function wireOf(set: SetQuery): Query {
  switch (set.op) {
    case 'match':
      return matchOf(set.index, set.term);
    case 'documents':
      return { documents: coll(set.of) };
    case 'singleton':
      return { singleton: doc(set.of, set.id) };
    case 'union':
    case 'intersection':
    case 'difference':
      return { [set.op]: set.sets.map(wireOf) };
    case 'distinct':
    case 'reverse':
      return { [set.op]: wireOf(set.set) };
    case 'filter': {
      const isOther = { not: { equals: [{ var: 'x' }, set.value] } };
      return { filter: { lambda: 'x', expr: isOther }, collection: wireOf(set.set) };
    }
    case 'range':
      return { range: wireOf(set.set), from: set.value, to: [] };
    case 'join': {
      const x = { var: 'x' };
      const target = matchOf(set.index, x);
      const nothing = { match: { index: 'nothing' } };
      const some = choice(isLowTerm(x), target, nothing);
      const expr = { none: nothing, some, all: target }[set.terms];
      return { join: wireOf(set.set), with: { lambda: 'x', expr } };
    }
    default:
      return unreachable(set);
  }
}

/** An `if` form. It is parsed from text because an object with a member `then` would be treated as a promise. */
const choice = (test: Query, whenTrue: Query, whenFalse: Query): Query =>
  JSON.parse(
    `{"if":${JSON.stringify(test)},"then":${JSON.stringify(whenTrue)},"else":${JSON.stringify(whenFalse)}}`,
  );

const matchOf = (index: IndexName, term: Query): Query => ({
  match: { index },
  ...(HAS_TERM.has(index) ? { terms: term } : {}),
});

/** The set without the parts that the role may not read, according to the table of denials. Undefined: denied. */
export function seenBy(role: Role, set: SetQuery): SetQuery | undefined {
  switch (set.op) {
    case 'match':
      return isReadable(role, set.index, set.term) ? set : undefined;
    case 'documents':
    case 'singleton':
      return set;
    case 'union':
    case 'intersection':
    case 'difference': {
      const members = set.sets.map((each) => seenBy(role, each));
      const sets = members.filter((each) => each !== undefined);
      if (sets.length === 0 || (set.op === 'difference' && !members[0])) return undefined;
      return { ...set, sets };
    }
    case 'distinct':
    case 'reverse':
    case 'filter':
    case 'range':
    case 'join': {
      const inner = seenBy(role, set.set);
      if (!inner) return undefined;
      if (set.op !== 'join') return { ...set, set: inner };
      const policy = role.indexes[set.index];
      return { ...set, set: inner, terms: policy === 'open' ? 'all' : policy };
    }
    default:
      return unreachable(set);
  }
}

function isReadable({ indexes }: Role, index: IndexName, term: number): boolean {
  if (indexes[index] === 'some') return HAS_TERM.has(index) && term < 2;
  return indexes[index] !== 'none';
}

/** Whether the role sees the set unfiltered. */
export function isOpen(role: Role, set: SetQuery): boolean {
  switch (set.op) {
    case 'match':
      return role.indexes[set.index] === 'open';
    case 'documents':
      return role.open[set.of];
    case 'singleton':
      return false;
    case 'union':
    case 'intersection':
    case 'difference':
      return set.sets.every((each) => isOpen(role, each));
    default:
      return isOpen(role, set.set);
  }
}
