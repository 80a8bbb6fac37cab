/**
 * Lists current documents that have expired. A scan of primary keys needs the list, because it does not read rows and thus not their `ttl`.
 */
import { decodeEntry, termsPrefix, type Key } from '../../codec/key.ts';
import { prefixRange } from '../../codec/ranges.ts';
import { scan } from '../../store/scan.ts';
import { isInteger, type Micros } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { NATIVE_INDEX } from '../catalog/native-indexes.ts';

/** If there are more expired documents, a scan checks each row instead. */
const EXPIRED_MAX = 256;

/**
 * Primary keys of documents that have expired. Undefined when there are too many to list. The range read here does not depend on the time,
 * so it stays cached from query to query.
 */
export function expiredKeys({ reader, snapshot }: EngineContext): ReadonlySet<Key> | undefined {
  const all = prefixRange(termsPrefix(0, NATIVE_INDEX.expiring, []));
  const range = scan('documents', { by: 'entry', ...all }, { limit: EXPIRED_MAX, rows: false });
  const entries = reader.range(range);
  const expired = new Set<Key>();
  for (const { entry, key } of entries) {
    if (ttlOf(entry) > snapshot) return expired;
    expired.add(key);
  }
  return entries.length < EXPIRED_MAX ? expired : undefined;
}

function ttlOf(entry: Key): Micros {
  const [ttl = null] = decodeEntry(entry, 1, [false]).values;
  return isInteger(ttl) ? Number(ttl) : Infinity;
}
