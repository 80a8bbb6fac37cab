/** Number of documents in a set, for a progress bar. Sent when loading begins, to callers that may read all of them. */
import type { Key } from '../../../codec/key.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Reader } from '../../../store/reader.ts';
import { scan } from '../../../store/scan.ts';
import type { RightsContext } from '../rights/rights-context.ts';
import {
  hasNothing,
  isReadableAsWhole,
  type RequestedPart,
  type ResolvedRequest,
} from './requested-sets.ts';

/** @throws Suspended */
export function countFor(
  { reader, rights }: RightsContext,
  set: ResolvedRequest | undefined,
): number | undefined {
  if (!set || set.error || !hasNothing(set)) return undefined;
  return isReadableAsWhole(rights, set) ? countOf(reader, set.parts) : undefined;
}

/** Undefined if there are too many to count. */
function countOf(reader: Reader, parts: readonly RequestedPart[]): number | undefined {
  const limit = SYNC_LIMITS.countedDocuments + 1;
  const keys = new Set<Key>();
  for (const { range } of parts) {
    const page = reader.range(scan('documents', range, { limit, rows: false }));
    if (page.length === limit) return undefined;
    for (const { key } of page) keys.add(key);
  }
  return keys.size;
}
