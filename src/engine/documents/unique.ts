/** Unique indexes: at most one document for each combination of terms and values. Spec: sets 2.3. */
import { decodeDocumentKey, tuplePrefix, type Key } from '../../codec/key.ts';
import { prefixRange } from '../../codec/ranges.ts';
import { unpackVersion } from '../../codec/row.ts';
import { fail, type Step } from '../../errors.ts';
import { NOT_UNIQUE } from '../../fault-texts.ts';
import { eachElement } from '../../query/collect-needs.ts';
import { scan } from '../../store/scan.ts';
import type { Ref } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import type { IndexDefinition } from '../catalog/definitions.ts';
import { isExpired, keyOf } from './documents.ts';
import type { IndexedEntries } from './version-rows.ts';

/**
 * Checks the entries that this write adds to unique indexes. Clashes between existing entries are not reported.
 * @param entries present entries of the document
 * @throws QueryFailure `instance not unique`
 */
export function requireUnique(
  context: EngineContext,
  ref: Ref,
  indexed: readonly IndexedEntries[],
  entries: readonly Key[],
  position: readonly Step[],
): void {
  let added: Set<Key> | undefined;
  const present = new Set(entries);
  for (const { index, keys } of indexed) {
    if (!canClash(index)) continue;
    for (const key of keys)
      if (!present.has(key)) (added ??= new Set()).add(tuplePrefix(key, index.reverse));
  }
  if (!added) return;
  eachElement(added, (prefix) => {
    if (isTaken(context, ref, prefix)) failNotUnique(position, detailOf(indexed, prefix));
  });
}

export const failNotUnique = (position: readonly Step[], detail: string): never =>
  fail('instance not unique', position, NOT_UNIQUE, { detail });

function detailOf(indexed: readonly IndexedEntries[], prefix: Key): string {
  const { index } =
    indexed.find(
      ({ index: each, keys }) => canClash(each) && keys.some((key) => key.startsWith(prefix)),
    ) ?? {};
  const fields = [...(index?.terms ?? []), ...(index?.values ?? [])];
  const names = fields.map(({ binding, path }) => binding ?? path?.join('.'));
  return `Another document has the same ${names.join(' and ')}, and index ${index?.name} is unique.`;
}

/** Whether two documents can have the same entry in the index. They cannot if the document's ref is one of its values. */
const canClash = ({ unique, values }: IndexDefinition): boolean =>
  unique && !values.some(({ path, binding }) => binding === undefined && isRefPath(path));

const isRefPath = (path: readonly (string | number)[] | undefined): boolean =>
  path?.length === 1 && path[0] === 'ref';

/** At least two, because one result may be the document's own entry with another `ttl`. */
const AT_FIRST = 2;
const GROWTH = 4;

/** Whether another existing document has an entry with this prefix. */
function isTaken(context: EngineContext, ref: Ref, prefix: Key): boolean {
  for (let limit = AT_FIRST; ; limit *= GROWTH) {
    // Fewer than one of a thousand creates finds a row, so rows are only prefetched, which delays no query.
    const range = { by: 'entry', ...prefixRange(prefix) } as const;
    const found = context.reader.range(
      scan('documents', range, { limit, prefetch: true }),
      'empty',
    );
    if (found.some(({ key }) => key !== keyOf(ref) && isThere(context, key))) return true;
    if (found.length < limit) return false;
  }
}

/** Whether the document exists, has not expired, and its collection exists. */
function isThere(context: EngineContext, key: Key): boolean {
  const { database, collection } = decodeDocumentKey(key);
  if (!context.schema(database).collection(collection)) return false;
  const row = context.reader.row({ space: 'documents', key });
  return row !== undefined && !isExpired(unpackVersion(String(row.value)), context.snapshot);
}
