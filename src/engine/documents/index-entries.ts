/** Computes the index entries of a version of a document. Spec: sets 2.2. */
import { entryKeyBelow, termsPrefix, type Key } from '../../codec/key.ts';
import { encodeValue } from '../../codec/ordered.ts';
import { Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Ref, Value } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import {
  sourceCovering,
  type IndexDefinition,
  type IndexField,
  type IndexSource,
} from '../catalog/definitions.ts';
import {
  fieldElements,
  loneElement,
  type ApplyBinding,
  type IndexedVersion,
} from './index-fields.ts';

/** Refusal `bad request`: an index cannot hold the entries of a document. */
export class UnfitEntries extends Refusal {}

/** Called with the refusal, instead of throwing it, when a stored version does not fit into an index. */
export type OnUnfit = (unfit: UnfitEntries) => void;

/** Leaves the entries of a stored version out of the index. `verify()` reports the document, and the next write to it is refused. */
export const omitUnfit: OnUnfit = () => undefined;

/**
 * The distinct entry keys of the version. Empty when the index does not cover the document.
 * @param onUnfit called when an entry, or all entries together, are too large. The result is then empty
 * @throws UnfitEntries if `onUnfit` is not given
 */
export function indexEntries(
  context: Pick<EngineContext, 'lambdas'>,
  index: IndexDefinition,
  ref: Ref,
  version: IndexedVersion,
  onUnfit?: OnUnfit,
): readonly Key[] {
  const source = sourceCovering(index, ref.collection);
  try {
    return source ? entriesOf(context, index, source, ref, version) : [];
  } catch (thrown) {
    if (!onUnfit || !(thrown instanceof UnfitEntries)) throw thrown;
    onUnfit(thrown);
    return [];
  }
}

function entriesOf(
  context: Pick<EngineContext, 'lambdas'>,
  index: IndexDefinition,
  source: IndexSource,
  ref: Ref,
  version: IndexedVersion,
): readonly Key[] {
  const terms = loneTuple(index.terms, ref, version, null);
  const values = terms && loneTuple(index.values, ref, version, version.ts);
  if (!terms || !values) return [...entriesOfProducts(context, index, source, ref, version)];
  for (const each of terms) refuseLarge(index, each);
  for (const each of values) refuseLarge(index, each);
  if (isAllNull(terms) || isAllNull(values)) return [];
  return [entryOf(index, termsPrefix(ref.database, index.id, terms), values, ref, version)];
}

/** The only tuple, in the common case that no field has several elements. Undefined in other cases. */
function loneTuple(
  fields: readonly IndexField[],
  ref: Ref,
  version: IndexedVersion,
  ts: IndexedVersion['ts'] | null,
): readonly Value[] | undefined {
  const tuple: Value[] = [];
  for (const field of fields) {
    const element = loneElement(field, ref, version, ts);
    if (element === undefined) return undefined;
    tuple.push(element);
  }
  return tuple;
}

function entriesOfProducts(
  context: Pick<EngineContext, 'lambdas'>,
  index: IndexDefinition,
  source: IndexSource,
  ref: Ref,
  version: IndexedVersion,
): ReadonlySet<Key> {
  const apply: ApplyBinding = (lambda, document) => context.lambdas.apply(lambda, document, 'pure');
  const lists = (fields: IndexDefinition['terms'], ts: IndexedVersion['ts'] | null) =>
    fields.map((field) => distinct(fieldElements(field, source, ref, version, ts, apply)));
  const termLists = lists(index.terms, null);
  const valueLists = lists(index.values, version.ts);
  refuseTooMany(index, termLists, valueLists);
  for (const list of termLists) for (const each of list) refuseLarge(index, each);
  for (const list of valueLists) for (const each of list) refuseLarge(index, each);

  const keys = new Set<Key>();
  let bytes = 0;
  for (const terms of products(termLists)) {
    if (isAllNull(terms)) continue;
    const prefix = termsPrefix(ref.database, index.id, terms);
    for (const values of products(valueLists)) {
      if (isAllNull(values)) continue;
      const key = entryOf(index, prefix, values, ref, version);
      keys.add(key);
      bytes += key.length;
      if (bytes > LIMITS.transactionBytes) refuseEntries(index);
    }
  }
  return keys;
}

function entryOf(
  index: IndexDefinition,
  prefix: Key,
  values: readonly Value[],
  ref: Ref,
  { ttl }: IndexedVersion,
): Key {
  const key = entryKeyBelow(prefix, { values, reverse: index.reverse, ref, ttl });
  if (key.length > LIMITS.indexEntryBytes) refuseEntry(index, LIMITS.indexEntryBytes);
  return key;
}

/** Removes duplicates. 1 and 1.0 are different. */
function distinct(elements: readonly Value[]): readonly Value[] {
  if (elements.length < 2) return elements;
  const byKey = new Map(elements.map((element) => [termsPrefix(0, 0, [element]), element]));
  return [...byKey.values()];
}

/** The cartesian product of the lists. For no lists, one empty tuple. */
function* products(lists: readonly (readonly Value[])[]): Generator<readonly Value[]> {
  const [first, ...rest] = lists;
  if (!first) {
    yield [];
    return;
  }
  for (const value of first) for (const others of products(rest)) yield [value, ...others];
}

const isAllNull = (tuple: readonly Value[]): boolean =>
  tuple.length > 0 && tuple.every((value) => value === null);

/** Bytes of the shortest entry. With it, a product that is too large is refused before it is computed. */
const ENTRY_BYTES_MIN = 22;

function refuseTooMany(
  index: IndexDefinition,
  ...groups: readonly (readonly (readonly Value[])[])[]
): void {
  const count = groups.flat().reduce((product, list) => product * list.length, 1);
  if (count * ENTRY_BYTES_MIN > LIMITS.transactionBytes) refuseEntries(index);
}

/** Texts of fewer code units always fit: a code unit takes at most 3 bytes. */
const SMALL_TEXT_UNITS = 10_000;

function refuseLarge(index: IndexDefinition, value: Value): void {
  if (typeof value === 'string' ? value.length < SMALL_TEXT_UNITS : typeof value !== 'object') {
    return;
  }
  if (value !== null && encodeValue(value).length > LIMITS.indexComponentBytes) {
    refuseEntry(index, LIMITS.indexComponentBytes);
  }
}

function refuseEntry(index: IndexDefinition, max: number): never {
  throw new UnfitEntries(
    'bad request',
    `Index '${index.name}' cannot hold a term, value or entry of more than ${max} bytes.`,
  );
}

function refuseEntries(index: IndexDefinition): never {
  throw new UnfitEntries(
    'bad request',
    `The entries of one document in index '${index.name}' exceed ${LIMITS.transactionBytes} bytes.`,
  );
}
