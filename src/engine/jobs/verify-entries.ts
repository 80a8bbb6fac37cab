/** Computes the index entries that a stored version should have, as far as they can be determined. */
import { indexPrefix, indexPrefixOf, type Key } from '../../codec/key.ts';
import type { StoredVersion } from '../../codec/row.ts';
import type { Ref } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { ROOT_DATABASE } from '../catalog/databases.ts';
import { fieldsOf } from '../documents/documents.ts';
import { NATIVE_INDEX } from '../catalog/native-indexes.ts';
import { allEntries, userEntries } from '../documents/version-rows.ts';

/**
 * All entries of a version while it is the current one.
 * @param onUnfit called when an index cannot hold the entries
 */
export function expectedEntries(
  context: EngineContext,
  ref: Ref,
  version: StoredVersion,
  onUnfit?: Parameters<typeof userEntries>[4],
): readonly Key[] {
  if (version.action === 'delete') return [];
  const fields = fieldsOf(context, ref, version);
  const indexed = userEntries(context, ref, fields, version, onUnfit);
  return allEntries(ref, fields, version.ttl, indexed);
}

/**
 * Returns a test for entries of existing, complete indexes. An index that is being built gets its entries, and their times, document by
 * document. A deleted index leaves its entries in rows until they are collected, but no query can reach them.
 */
export function isOfBuiltIndex({
  schema,
  database,
}: Pick<EngineContext, 'schema' | 'database'>): (entry: Key) => boolean {
  const native = Object.values(NATIVE_INDEX).flatMap((index) => [
    indexPrefix(ROOT_DATABASE, index),
    indexPrefix(database, index),
  ]);
  const built = schema(database)
    .all('indexes')
    .filter(({ isBuilding }) => !isBuilding)
    .map(({ id }) => indexPrefix(database, id));
  const prefixes = new Set([...native, ...built]);
  return (entry) => prefixes.has(indexPrefixOf(entry));
}
