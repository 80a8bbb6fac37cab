/** What a commit may affect of a device, as far as is known from what the device has read. */
import { databaseOf, decodeDocumentKey, type Key } from '../../../codec/key.ts';
import { isInRange } from '../../../codec/ranges.ts';
import type { CommitNotice } from '../../../engine/host.ts';
import { isNative } from '../../../values/native-kinds.ts';
import type { DatabaseId } from '../../../values/value.ts';
import type { PartRange } from '../../protocol/set-parts.ts';
import { RIGHTS_COLLECTIONS } from '../rights/rights-collections.ts';
import type { ScopeMatcher } from '../rights/scope.ts';

/** What a device read at its last pull from this process. */
export interface Watch {
  /** Devices with equal ranges share one array. */
  readonly ranges: readonly PartRange[];
  readonly scope: ScopeMatcher;
}

/** The changes of one commit in one database. Computed once for all devices, because a hub may have thousands. */
interface Changes {
  readonly keys: Key[];
  readonly entries: Key[];
  /** Schema objects changed, which may affect the rights of every device. */
  isOfSchema: boolean;
  /** Documents in a collection of the app changed. */
  isOfDocuments: boolean;
  /** Cached results, by the ranges of devices: whether any change is in them. */
  readonly inRanges: Map<Watch['ranges'], boolean>;
}

/** Changed documents by database. Other spaces contain the hub's own data. */
export function changesIn({ rows, entries }: CommitNotice): ReadonlyMap<DatabaseId, Changes> {
  const found = new Map<DatabaseId, Changes>();
  for (const { space, key } of rows) {
    if (space !== 'documents') continue;
    const database = databaseOf(key);
    const changes = found.get(database) ?? noChanges();
    found.set(database, changes);
    changes.keys.push(key);
    const { collection } = decodeDocumentKey(key);
    // Changes of keys, tokens and credentials affect only the devices that use them (`concernsRights`).
    changes.isOfSchema ||= RIGHTS_COLLECTIONS.has(collection);
    changes.isOfDocuments ||= !isNative(collection);
  }
  for (const { space, key } of entries)
    if (space === 'documents') found.get(databaseOf(key))?.entries.push(key);
  return found;
}

const noChanges = (): Changes => ({
  keys: [],
  entries: [],
  isOfSchema: false,
  isOfDocuments: false,
  inRanges: new Map(),
});

/**
 * What the changes may affect of a device: its rights, or only documents in its sets.
 * @param streams of the device, each with the keys of its credential and of the document as which it acts
 */
export function concernOf(
  changes: Changes,
  streams: Iterable<{ readonly own: readonly Key[] }>,
  watch: Watch | undefined,
): 'rights' | 'documents' | undefined {
  for (const { own } of streams) if (concernsRights(changes, own, watch)) return 'rights';
  return watch && isInSets(changes, watch) ? 'documents' : undefined;
}

function concernsRights(changes: Changes, own: readonly Key[], watch: Watch | undefined): boolean {
  if (changes.isOfSchema) return true;
  // If the device has not pulled here, any document may affect it.
  if (!watch && changes.isOfDocuments) return true;
  const { keys, entries } = changes;
  return keys.some((key) => own.includes(key) || watch?.scope.matches({ key, entries }));
}

function isInSets({ keys, entries, inRanges }: Changes, { ranges }: Watch): boolean {
  const known = inRanges.get(ranges);
  if (known !== undefined) return known;
  const isIn =
    keys.some((key) => isInAny(ranges, 'key', key)) ||
    entries.some((entry) => isInAny(ranges, 'entry', entry));
  inRanges.set(ranges, isIn);
  return isIn;
}

const isInAny = (ranges: readonly PartRange[], by: PartRange['by'], key: Key): boolean =>
  ranges.some((range) => range.by === by && isInRange(key, range));
