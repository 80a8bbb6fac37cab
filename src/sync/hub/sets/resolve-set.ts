/** What a set to be kept in step may be, and the ranges of documents it comes down to. Anything else is evaluated on the device, over these. */
import { hexOfKey, indexPrefix, keySuffix, termsPrefix, type Key } from '../../../codec/key.ts';
import { QueryFailure, Refusal } from '../../../errors.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { ROOT_DATABASE } from '../../../engine/databases.ts';
import { isNative, type IndexDefinition } from '../../../engine/definitions.ts';
import type { EngineContext } from '../../../engine/context.ts';
import type { EngineSession } from '../../../engine/session.ts';
import { evaluate } from '../../../query/evaluate.ts';
import { parseQuery } from '../../../query/parse.ts';
import { isArray, isKind, isObject, Ref } from '../../../values/value.ts';
import type { SetValue, Value } from '../../../values/value.ts';
import { partRange, type PartRange } from '../../protocol/set-parts.ts';
import type { SetPart } from '../../protocol/sets.ts';

/** A part as the device knows it, and where its rows are here. */
export interface ResolvedPart {
  readonly part: SetPart;
  readonly range: PartRange;
  /** Of an index. */
  readonly index: IndexDefinition | undefined;
}

export interface SetRefusal {
  readonly code: string;
  readonly description: string;
}

export type ResolvedSet =
  | { readonly parts: readonly ResolvedPart[]; readonly error: undefined }
  | { readonly parts: readonly []; readonly error: SetRefusal };

/** What evaluates the text of a set: the session of who asks. */
export interface SetGround {
  readonly context: EngineContext;
  readonly session: EngineSession;
  /** Whether any document of a collection could be the caller's to read. */
  readonly mayReadOf: (collection: number) => boolean;
}

class Unsuited extends Error {
  readonly refusal: SetRefusal;
  constructor(code: string, description: string) {
    super(description);
    this.refusal = { code, description };
  }
}

/** @throws Suspended */
export function resolveSet(ground: SetGround, query: string): ResolvedSet {
  try {
    const value = evaluate(parseQuery(query, ground.session.apiVersion), ground.session, {
      allows: 'read',
      placeName: 'sets to sync',
    });
    const parts = distinctParts(partsOf(ground, value));
    if (parts.length > SYNC_LIMITS.partsPerSet)
      throw new Unsuited(
        'invalid argument',
        `A set may have at most ${SYNC_LIMITS.partsPerSet} parts.`,
      );
    return { parts, error: undefined };
  } catch (thrown) {
    return { parts: [], error: refusalOf(thrown) };
  }
}

function refusalOf(thrown: unknown): SetRefusal {
  if (thrown instanceof Unsuited) return thrown.refusal;
  if (thrown instanceof QueryFailure) {
    const [fault] = thrown.faults;
    return { code: fault?.code ?? 'invalid expression', description: fault?.description ?? '' };
  }
  if (thrown instanceof Refusal && thrown.code !== 'time out')
    return { code: thrown.code, description: thrown.message };
  throw thrown;
}

function partsOf(ground: SetGround, value: Value): readonly ResolvedPart[] {
  if (isKind(value, 'ref')) return [documentPart(ground, value)];
  if (!isKind(value, 'set')) return unsuited();
  switch (value.op) {
    case 'documents':
      return [collectionPart(ground, value.collection)];
    case 'match':
      return [indexPart(ground, value)];
    case 'singleton':
      return [documentPart(ground, value.ref)];
    case 'union':
      return value.sets.flatMap((set) => partsOf(ground, set));
    default:
      return unsuited();
  }
}

const unsuited = (): never => {
  throw new Unsuited(
    'invalid argument',
    'A set to sync must be `Documents(collection)`, `Match(index, terms…)`, the ref of a document, or a union of these. Other sets can be evaluated on the device over the synced ones.',
  );
};

const denied = (): never => {
  throw new Unsuited('permission denied', 'Insufficient privileges to read this set.');
};

function collectionPart({ context, mayReadOf }: SetGround, collection: Ref): ResolvedPart {
  const { database } = context;
  const id = Number(collection.id);
  if (collection.database !== database || isNative(id)) return unsuited();
  if (!mayReadOf(id)) return denied();
  return located({ kind: 'collection', collection: id }, database);
}

function documentPart({ context, mayReadOf }: SetGround, ref: Ref): ResolvedPart {
  const { database } = context;
  if (ref.database !== database || isNative(ref.collection)) return unsuited();
  if (!mayReadOf(ref.collection)) return denied();
  return located({ kind: 'document', collection: ref.collection, id: String(ref.id) }, database);
}

function indexPart(
  { context }: SetGround,
  { index: ref, terms }: Extract<SetValue, { readonly op: 'match' }>,
): ResolvedPart {
  const { database, permissions } = context;
  const index = ref.database === database ? context.schema(database).index(ref) : undefined;
  if (!index) return unsuited();
  if (
    index.sources.some(
      ({ collections }) => collections !== 'all' && [...collections].some(isNative),
    )
  )
    return unsuited();
  if (!permissions.may({ action: 'read_index', index, terms })) return denied();
  if (terms.length !== index.terms.length)
    throw new Unsuited(
      'invalid argument',
      `The index '${index.name}' has ${index.terms.length} terms, but ${terms.length} are given.`,
    );
  // A device has one database, and its number is that of the root.
  const own = terms.map((term) => movedTo(term, database, ROOT_DATABASE));
  const prefix = hexOfKey(prefixOf(ROOT_DATABASE, index.id, own));
  const here = hexOfKey(prefixOf(database, index.id, terms));
  const { range } = located({ kind: 'index', index: index.id, prefix: here }, database);
  return { part: { kind: 'index', index: index.id, prefix }, range, index };
}

const prefixOf = (database: number, index: number, terms: readonly Value[]): Key =>
  keySuffix(termsPrefix(database, index, terms), indexPrefix(database, index));

function movedTo(value: Value, from: number, to: number): Value {
  if (from === to || typeof value !== 'object' || value === null) return value;
  if (isArray(value)) return value.map((each) => movedTo(each, from, to));
  if (isObject(value))
    return new Map([...value].map(([name, each]) => [name, movedTo(each, from, to)]));
  return isKind(value, 'ref') && value.database === from
    ? new Ref(to, value.collection, value.id)
    : value;
}

const located = (part: SetPart, database: number): ResolvedPart => ({
  part,
  range: partRange(part, database),
  index: undefined,
});

function distinctParts(parts: readonly ResolvedPart[]): readonly ResolvedPart[] {
  const byName = new Map(parts.map((each) => [nameOfPart(each.part), each]));
  return [...byName.values()];
}

export const nameOfPart = (part: SetPart): string =>
  part.kind === 'index'
    ? `${part.index} ${part.prefix}`
    : part.kind === 'document'
      ? `${part.collection}/${part.id}`
      : String(part.collection);
