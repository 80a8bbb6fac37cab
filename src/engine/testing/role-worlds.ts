/**
 * Two worlds for the property that a role sees nothing but what it may: one with everything, and one in which what the role may
 * not read never was. What the role is answered in the first is what an admin is answered in the second.
 */
import * as fc from 'fast-check';
import { EngineWorld, coll, create, doc, obj, ROOT, type Query } from './engine-world.ts';

export type CollectionName = 'c' | 'd';
const COLLECTIONS = ['c', 'd'] as const;
const INDEXES = ['by_a', 'b_by_a', 'b_up', 'all_d'] as const;
export type IndexName = (typeof INDEXES)[number];
const HAS_TERM: ReadonlySet<IndexName> = new Set(['by_a', 'b_by_a']);

interface Data {
  readonly a: number;
  readonly b: readonly number[];
}

// --- roles --------------------------------------------------------------------------------------

/** Tests of a document as predicate, and as what it should come to. */
const PREDICATES = {
  even: {
    wire: { equals: [{ modulo: [{ to_integer: { select: 'id', from: { var: 'r' } } }, 2] }, 0] },
    holds: (id: number) => id % 2 === 0,
  },
  one: {
    wire: { equals: [{ select: ['data', 'a'], from: { get: { var: 'r' } } }, 1] },
    holds: (_id: number, { a }: Data) => a === 1,
  },
  called: {
    wire: { call: { function: 'is_small' }, arguments: { var: 'r' } },
    holds: (_id: number, { a }: Data) => a < 2,
  },
  indexed: {
    wire: { contains_value: { var: 'r' }, in: { match: { index: 'by_a' }, terms: 2 } },
    holds: (_id: number, { a }: Data, of: CollectionName) => of === 'c' && a === 2,
  },
} as const;
type PredicateName = keyof typeof PREDICATES;
export type ReadPolicy = 'none' | 'all' | PredicateName;
/** `some`: of terms 0 and 1, or none. */
type IndexPolicy = 'none' | 'all' | 'some' | 'open';

export interface Role {
  readonly read: Readonly<Record<CollectionName, ReadPolicy>>;
  readonly history: Readonly<Record<CollectionName, ReadPolicy>>;
  readonly indexes: Readonly<Record<IndexName, IndexPolicy>>;
  /** `unrestricted_read` of these collections. */
  readonly open: Readonly<Record<CollectionName, boolean>>;
}

const readPolicy = fc.oneof(
  { weight: 1, arbitrary: fc.constant<ReadPolicy>('none') },
  { weight: 8, arbitrary: fc.constantFrom<ReadPolicy>('all', 'even', 'one', 'called', 'indexed') },
);

/** @param hasOpen whether sets may be given unfiltered */
export const roleOf = (hasOpen: boolean): fc.Arbitrary<Role> => {
  const indexPolicy = hasOpen
    ? fc.constantFrom<IndexPolicy>('none', 'all', 'open', 'open', 'open')
    : fc.constantFrom<IndexPolicy>('none', 'all', 'all', 'all', 'some');
  const open = hasOpen ? fc.boolean() : fc.constant(false);
  return fc.record({
    read: fc.record({ c: readPolicy, d: readPolicy }),
    history: fc.record({ c: readPolicy, d: readPolicy }),
    indexes: fc.record({
      by_a: indexPolicy,
      b_by_a: indexPolicy,
      b_up: indexPolicy,
      all_d: indexPolicy,
    }),
    open: fc.record({ c: open, d: open }),
  });
};

const lambda = (pattern: string, expr: Query): Query => ({ query: { lambda: pattern, expr } });
const isLowTerm = (term: Query): Query => ({ or: [{ equals: [term, 0] }, { equals: [term, 1] }] });

function privilegesOf({ read, history, indexes, open }: Role): readonly Query[] {
  const policy = (name: ReadPolicy): Query =>
    name === 'none' ? false : name === 'all' ? true : lambda('r', PREDICATES[name].wire);
  const ofCollections = COLLECTIONS.map((name) =>
    obj({
      resource: coll(name),
      actions: obj({
        read: policy(read[name]),
        history_read: policy(history[name]),
        unrestricted_read: open[name],
      }),
    }),
  );
  const first = { select: 0, from: { var: 't' }, default: null };
  const actions: Readonly<Record<IndexPolicy, Record<string, unknown>>> = {
    none: {},
    all: { read: true },
    some: { read: lambda('t', isLowTerm(first)) },
    open: { unrestricted_read: true },
  };
  const ofIndexes = INDEXES.map((name) =>
    obj({ resource: { index: name }, actions: obj(actions[indexes[name]]) }),
  );
  return [...ofCollections, ...ofIndexes];
}

// --- data ---------------------------------------------------------------------------------------

export interface Step {
  readonly of: CollectionName;
  readonly id: number;
  /** Undefined: deleted. */
  readonly data: Data | undefined;
}

export const IDS = 7;
export const STEPS_MAX = 20;
export const history: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    of: fc.constantFrom(...COLLECTIONS),
    id: fc.integer({ min: 1, max: IDS }),
    data: fc.option(
      fc.record({ a: fc.nat(2), b: fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 2 }) }),
      {
        nil: undefined,
        freq: 7,
      },
    ),
  }),
  { minLength: 1, maxLength: STEPS_MAX, size: 'max' },
);

const START = 1_767_225_600_000_000;
const SECOND = 1_000_000;
/** When a step was committed, about. */
export const timeOf = (step: number): number => START + 60 * SECOND + step * SECOND + SECOND / 2;

export interface Worlds {
  readonly whole: EngineWorld;
  readonly seen: EngineWorld;
  /** Whether the role may read it as it is now. */
  readonly shows: (of: CollectionName, id: number, policy: ReadPolicy) => boolean;
}

export async function worldsOf(steps: readonly Step[], role: Role): Promise<Worlds> {
  const now = new Map<string, Data | undefined>();
  for (const { of, id, data } of steps) now.set(`${of}/${id}`, data);
  const shows = (of: CollectionName, id: number, policy: ReadPolicy): boolean => {
    if (policy === 'none' || policy === 'all') return policy === 'all';
    const data = now.get(`${of}/${id}`);
    // What reads nothing decides also of what is not there.
    if (policy === 'even') return PREDICATES.even.holds(id);
    return data !== undefined && PREDICATES[policy].holds(id, data, of);
  };
  const whole = await worldWith(steps, () => true);
  const seen = await worldWith(steps, ({ of, id }) => shows(of, id, role.read[of]));
  await askAt(whole, START + 50 * SECOND, {
    create_role: obj({ name: 'r', privileges: privilegesOf(role) }),
  });
  return { whole, seen, shows };
}

async function worldWith(
  steps: readonly Step[],
  isThere: (step: Step) => boolean,
): Promise<EngineWorld> {
  const w = new EngineWorld();
  const field = (name: string) => obj({ field: ['data', name] });
  const [c, d] = [coll('c'), coll('d')];
  const collections = ['c', 'd', 'e'].map((name) => ({ create_collection: obj({ name }) }));
  await askAt(w, START, { do: collections });
  const indexes: readonly Record<string, unknown>[] = [
    { name: 'by_a', source: c, terms: [field('a')] },
    { name: 'b_by_a', source: [c, d], terms: [field('a')], values: [field('b')] },
    { name: 'b_up', source: d, values: [field('b')] },
    { name: 'all_d', source: d },
    { name: 'nothing', source: coll('e') },
  ];
  const small = { lt: [{ select: ['data', 'a'], from: { get: { var: 'x' } } }, 2] };
  const isSmall = { create_function: obj({ name: 'is_small', body: lambda('x', small) }) };
  await askAt(w, START + SECOND, {
    do: [...indexes.map((index) => ({ create_index: obj(index) })), isSmall],
  });
  await w.engine.buildIndexes();
  const live = new Set<string>();
  for (const [i, step] of steps.entries()) {
    const name = `${step.of}/${step.id}`;
    const query = queryOf(step, live.has(name));
    if (!query || !isThere(step)) continue;
    await askAt(w, timeOf(i) - SECOND / 2, query);
    if (step.data) live.add(name);
    else live.delete(name);
  }
  return w;
}

function queryOf({ of, id, data }: Step, isLive: boolean): Query | undefined {
  const target = doc(of, id);
  if (!data) return isLive ? { delete: target } : undefined;
  const { a, b } = data;
  if (!isLive) return create(target, { a, b });
  return { replace: target, params: obj({ data: obj({ a, b }) }) };
}

const askAt = async (w: EngineWorld, time: number, query: Query): Promise<void> => {
  w.now = time - SECOND;
  await w.ask(query);
};

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** All questions are asked at the same time, after all steps. */
export async function answerOf(
  w: EngineWorld,
  query: Query,
  as: 'admin' | 'role',
): Promise<Answer> {
  w.now = START + 3600 * SECOND;
  const secret = as === 'admin' ? ROOT : `${ROOT}:@role/r`;
  const { status, body } = await w.answer(query, { secret });
  return { status, body };
}

// --- sets ---------------------------------------------------------------------------------------

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
      /** Which terms lead anywhere. */
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
      const some = { if: isLowTerm(x), then: target, else: nothing };
      const expr = { none: nothing, some, all: target }[set.terms];
      return { join: wireOf(set.set), with: { lambda: 'x', expr } };
    }
  }
}

const matchOf = (index: IndexName, term: Query): Query => ({
  match: { index },
  ...(HAS_TERM.has(index) ? { terms: term } : {}),
});

/** The set with what the role may not read left out of it, as the table of denials says; undefined: denied. */
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
  }
}

function isReadable({ indexes }: Role, index: IndexName, term: number): boolean {
  if (indexes[index] === 'some') return HAS_TERM.has(index) && term < 2;
  return indexes[index] !== 'none';
}

/** Whether the role is given the set as it is: no part of it is filtered. */
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
