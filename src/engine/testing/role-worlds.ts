/**
 * Two worlds to test that a role sees only what it may read: one with all documents, and one in which the documents that the role may not
 * read never existed. The role must get the same answers in the first as an admin in the second.
 */
import * as fc from 'fast-check';
import type { QueryAnswer } from '../context/host.ts';
import { EngineWorld, coll, create, doc, obj, ROOT, type Query } from './engine-world.ts';

export type CollectionName = 'c' | 'd';
export const COLLECTIONS = ['c', 'd'] as const;
export const INDEXES = ['by_a', 'b_by_a', 'b_up', 'all_d'] as const;
export type IndexName = (typeof INDEXES)[number];
export const HAS_TERM: ReadonlySet<IndexName> = new Set(['by_a', 'b_by_a']);

interface Data {
  readonly a: number;
  readonly b: readonly number[];
}

// --- roles --------------------------------------------------------------------------------------

/** Conditions on a document: as a predicate in wire form, and as the expected result. */
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
/** `some`: allowed for the terms 0 and 1, or without terms. */
type IndexPolicy = 'none' | 'all' | 'some' | 'open';

export interface Role {
  readonly read: Readonly<Record<CollectionName, ReadPolicy>>;
  readonly history: Readonly<Record<CollectionName, ReadPolicy>>;
  readonly indexes: Readonly<Record<IndexName, IndexPolicy>>;
  /** Whether the role has `unrestricted_read` for the collection. */
  readonly open: Readonly<Record<CollectionName, boolean>>;
}

const readPolicy = fc.oneof(
  { weight: 1, arbitrary: fc.constant<ReadPolicy>('none') },
  { weight: 8, arbitrary: fc.constantFrom<ReadPolicy>('all', 'even', 'one', 'called', 'indexed') },
);

/** @param hasOpen whether the role may have sets unfiltered */
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
export const isLowTerm = (term: Query): Query => ({
  or: [{ equals: [term, 0] }, { equals: [term, 1] }],
});

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
  /** Undefined: the document is deleted. */
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
/** A time just after the commit of a step. */
export const timeOf = (step: number): number => START + 60 * SECOND + step * SECOND + SECOND / 2;

export interface Worlds {
  readonly whole: EngineWorld;
  readonly seen: EngineWorld;
  /** Whether the role may read the present version of the document. */
  readonly shows: (of: CollectionName, id: number, policy: ReadPolicy) => boolean;
}

export async function worldsOf(steps: readonly Step[], role: Role): Promise<Worlds> {
  const now = new Map<string, Data | undefined>();
  for (const { of, id, data } of steps) now.set(`${of}/${id}`, data);
  const shows = (of: CollectionName, id: number, policy: ReadPolicy): boolean => {
    if (policy === 'none' || policy === 'all') return policy === 'all';
    const data = now.get(`${of}/${id}`);
    // This predicate reads nothing, so it also decides about missing documents.
    if (policy === 'even') return PREDICATES.even.holds(id);
    return data !== undefined && PREDICATES[policy].holds(id, data, of);
  };
  const whole = await worldWith(steps, () => true);
  const seen = await worldWith(steps, ({ of, id }) => shows(of, id, role.read[of]));
  for (const world of [whole, seen]) {
    await askAt(world, START + 50 * SECOND, {
      create_role: obj({ name: 'r', privileges: privilegesOf(role) }),
    });
  }
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

/** Undefined: there is nothing to delete. */
function queryOf({ of, id, data }: Step, isLive: boolean): Query {
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

/** Metrics of an answer, which must not reveal more either. */
export type Work = Pick<QueryAnswer['metrics'], 'computeOps' | 'readOps' | 'readBytes'>;

/** Executes a query. All questions are asked at the same time, after all steps. */
export async function answerOf(
  w: EngineWorld,
  query: Query,
  as: 'admin' | 'role',
): Promise<Answer> {
  const { status, body } = await asked(w, query, as);
  return { status, body };
}

export async function workOf(w: EngineWorld, query: Query): Promise<Work> {
  const { computeOps, readOps, readBytes } = (await asked(w, query, 'role')).metrics;
  return { computeOps, readOps, readBytes };
}

function asked(w: EngineWorld, query: Query, as: 'admin' | 'role'): Promise<QueryAnswer> {
  w.now = START + 3600 * SECOND;
  const secret = as === 'admin' ? ROOT : `${ROOT}:@role/r`;
  return w.answer(query, { secret });
}
