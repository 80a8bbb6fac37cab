/** Computes, from the versions of one document, since when each index entry is held, and which entries end with each version. */
import { historyEntryKey, type Key } from '../../codec/key.ts';
import type { Micros } from '../../values/value.ts';
import { isNativeEntry } from '../catalog/native-indexes.ts';

/** A version and its index entries. A deletion has none. */
export interface VersionWithEntries {
  readonly ts: Micros;
  readonly entries: readonly Key[];
}

/** The entries of a version, each with the time since which it has been held without a gap. */
export type HeldEntries = ReadonlyMap<Key, Micros>;

export interface TimelineStep {
  readonly held: HeldEntries;
  /** Entry keys of the version in `history`: the entries that the next version does not have. */
  readonly ended: readonly Key[];
}

/**
 * One step for each version. No entries end with the last version.
 * @param versions of one document, oldest first
 */
export function entryTimeline(versions: readonly VersionWithEntries[]): readonly TimelineStep[] {
  let held: HeldEntries = new Map();
  return versions.map((version, i) => {
    held = heldSince(version, held);
    const next = versions[i + 1];
    return { held, ended: next ? endedBy(next, held) : [] };
  });
}

/** @param before the entries held by the previous version */
export const heldSince = ({ ts, entries }: VersionWithEntries, before: HeldEntries): HeldEntries =>
  new Map(entries.map((entry) => [entry, before.get(entry) ?? ts]));

/** Keys of the entries that end with the version `next`. Entries of internal indexes have no history. */
export function endedBy({ ts, entries }: VersionWithEntries, held: HeldEntries): readonly Key[] {
  const kept = new Set(entries);
  const ended: Key[] = [];
  for (const [entry, added] of held) {
    if (!kept.has(entry) && !isNativeEntry(entry)) ended.push(historyEntryKey(entry, added, ts));
  }
  return ended;
}
