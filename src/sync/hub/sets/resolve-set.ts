/** Resolves the query of a synced set to ranges of documents. Other sets are evaluated on the device, over the synced documents. */
import { hexOfKey, indexPrefix, keySuffix, termsPrefix, type Key } from '../../../codec/key.ts';
import { QueryFailure, Refusal } from '../../../errors.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { ROOT_DATABASE, type IndexDefinition } from '../../../engine/catalog.ts';
import { isNative } from '../../../values/native-kinds.ts';
import { evaluate } from '../../../query/evaluate.ts';
import { parseQuery } from '../../../query/parse.ts';
import { isArray, isKind, isObject, Ref } from '../../../values/value.ts';
import type { SetValue, Value } from '../../../values/value.ts';
import { partRange, type PartRange } from '../../protocol/set-parts.ts';
import type { SetPart } from '../../protocol/sets.ts';
import type { RightsContext } from '../rights/rights-context.ts';

/** A part as the device knows it, with the range of its rows at the hub. */
export interface ResolvedPart {
  readonly part: SetPart;
  readonly range: PartRange;
  /** The index, if the part is a range of one. */
  readonly index: IndexDefinition | undefined;
}

export interface SetRefusal {
  readonly code: string;
  readonly description: string;
}

export type ResolvedSet =
  | { readonly parts: readonly ResolvedPart[]; readonly error: undefined }
  | { readonly parts: readonly []; readonly error: SetRefusal };

/** The caller with whose rights the query of a set is evaluated. */
export type SetContext = Pick<RightsContext, 'caller' | 'rights' | 'database'>;

class UnsupportedSet extends Error {
  readonly refusal: SetRefusal;
  constructor(code: string, description: string) {
    super(description);
    this.refusal = { code, description };
  }
}

/** @throws Suspended */
export function resolveSet(context: SetContext, query: string): ResolvedSet {
  const { session } = context.caller;
  try {
    const value = evaluate(parseQuery(query, session.apiVersion), session, {
      allows: 'read',
      placeName: 'sets to sync',
    });
    const parts = distinctParts(partsOf(context, value));
    if (parts.length > SYNC_LIMITS.partsPerSet)
      throw new UnsupportedSet(
        'invalid argument',
        `A set may have at most ${SYNC_LIMITS.partsPerSet} parts.`,
      );
    return { parts, error: undefined };
  } catch (thrown) {
    return { parts: [], error: refusalOf(thrown) };
  }
}

function refusalOf(thrown: unknown): SetRefusal {
  if (thrown instanceof UnsupportedSet) return thrown.refusal;
  if (thrown instanceof QueryFailure) {
    const [fault] = thrown.faults;
    return { code: fault?.code ?? 'invalid expression', description: fault?.description ?? '' };
  }
  if (thrown instanceof Refusal && thrown.code !== 'time out')
    return { code: thrown.code, description: thrown.message };
  throw thrown;
}

function partsOf(context: SetContext, value: Value): readonly ResolvedPart[] {
  if (isKind(value, 'ref')) return [documentPart(context, value)];
  if (!isKind(value, 'set')) return unsupported();
  switch (value.op) {
    case 'documents':
      return [collectionPart(context, value.collection)];
    case 'match':
      return [indexPart(context, value)];
    case 'singleton':
      return [documentPart(context, value.ref)];
    case 'union':
      return value.sets.flatMap((set) => partsOf(context, set));
    default:
      return unsupported();
  }
}

const unsupported = (): never => {
  throw new UnsupportedSet(
    'invalid argument',
    'A set to sync must be `Documents(collection)`, `Match(index, terms…)`, the ref of a document, or a union of these. Other sets can be evaluated on the device over the synced ones.',
  );
};

const denied = (): never => {
  throw new UnsupportedSet(
    'permission denied',
    'Insufficient privileges to read this set: no role of the user allows `read` there.',
  );
};

function collectionPart({ rights, database }: SetContext, collection: Ref): ResolvedPart {
  const id = Number(collection.id);
  if (collection.database !== database || isNative(id)) return unsupported();
  if (!rights.mayReadOf(id)) return denied();
  return located({ kind: 'collection', collection: id }, database);
}

function documentPart(
  { caller: { context }, rights, database }: SetContext,
  ref: Ref,
): ResolvedPart {
  if (ref.database !== database || isNative(ref.collection)) return unsupported();
  // A document may be readable by its own `permissions`, even if no other document of the collection is.
  const mayRead = () => context.permissions.may({ action: 'read', ref });
  if (!rights.mayReadOf(ref.collection) && !mayRead()) return denied();
  return located({ kind: 'document', collection: ref.collection, id: String(ref.id) }, database);
}

function indexPart(
  { caller: { context }, database }: SetContext,
  { index: ref, terms }: Extract<SetValue, { readonly op: 'match' }>,
): ResolvedPart {
  const { permissions } = context;
  const index = ref.database === database ? context.schema(database).index(ref) : undefined;
  if (!index) return unsupported();
  if (
    index.sources.some(
      ({ collections }) => collections !== 'all' && [...collections].some(isNative),
    )
  )
    return unsupported();
  if (!permissions.may({ action: 'read_index', index, terms })) return denied();
  if (terms.length !== index.terms.length)
    throw new UnsupportedSet(
      'invalid argument',
      `The index '${index.name}' has ${index.terms.length} terms, but ${terms.length} are given.`,
    );
  // On a device the synced database is the root database, whatever its number is here.
  const deviceTerms = terms.map((term) => movedTo(term, database, ROOT_DATABASE));
  const prefix = hexOfKey(prefixOf(ROOT_DATABASE, index.id, deviceTerms));
  const here = hexOfKey(prefixOf(database, index.id, terms));
  const { range } = located({ kind: 'index', index: index.id, prefix: here }, database);
  return { part: { kind: 'index', index: index.id, prefix }, range, index };
}

const prefixOf = (database: number, index: number, terms: readonly Value[]): Key =>
  keySuffix(termsPrefix(database, index, terms), indexPrefix(database, index));

/** Replaces refs of one database by refs of another. */
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
