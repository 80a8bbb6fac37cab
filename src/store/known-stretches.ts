/** The stretches that are known of indexes and collections. What nobody has read in a while is let go. */
import { after, type Key } from '../codec/key.ts';
import { isEntrySpace, type Entry, type Range, type Row, type Space } from './port.ts';
import { Stretches } from './stretches.ts';

/** Keys of one index, or of one collection, share their first bytes: database and index or collection number. */
const GROUP_BYTES = 8;
/** Of a commit that touches more entries than this, the indexes are forgotten: cheaper than to look at each. */
const ENTRIES_LOOKED_AT_MAX = 1024;

type Group = string;

export const groupAt = (space: Space, by: Range['by'], key: Key | ''): Group =>
  space[0] + by + key.slice(0, GROUP_BYTES);

/** The one index or collection that a range is in; if it is not in one, undefined. */
export function groupOf({ space, by, lower, upper }: Range): Group | undefined {
  const prefix = lower.slice(0, GROUP_BYTES) as Key;
  const isInOne = prefix.length === GROUP_BYTES && upper <= after(prefix);
  return isInOne ? groupAt(space, by, prefix) : undefined;
}

export interface ChangedRow {
  readonly space: Space;
  readonly key: Key;
  readonly row: Row | undefined | 'unknown';
}

export class KnownStretches {
  private young = new Map<Group, Stretches>();
  private old = new Map<Group, Stretches>();
  private youngBytes = 0;
  private readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  clear(): void {
    this.young = new Map();
    this.old = new Map();
    this.youngBytes = 0;
  }

  find(group: Group, range: Range): readonly Entry[] | undefined {
    const found = this.young.get(group)?.find(range);
    if (found) return found;
    const before = this.old.get(group)?.find(range);
    if (before) this.keep(group, range, before);
    return before;
  }

  keep(group: Group, range: Range, found: readonly Entry[]): void {
    let stretches = this.young.get(group);
    if (!stretches) this.young.set(group, (stretches = new Stretches()));
    this.youngBytes -= stretches.bytes;
    stretches.keep(range, found);
    this.youngBytes += stretches.bytes;
    if (this.youngBytes <= this.bytesMax / 2) return;
    this.old = this.young;
    this.young = new Map();
    this.youngBytes = 0;
  }

  /** @param entries all that the changed rows have, or had */
  advance(
    rows: readonly ChangedRow[],
    entries: readonly { readonly space: Space; readonly key: Key }[],
  ): void {
    const changed = rows.filter(({ space }) => isEntrySpace(space));
    if (entries.length > ENTRIES_LOOKED_AT_MAX) {
      for (const { space, key } of changed) this.dropGroup(groupAt(space, 'key', key));
      for (const { space, key } of entries) this.dropGroup(groupAt(space, 'entry', key));
      return;
    }
    for (const { space, key, row } of changed) {
      const isKnown = row !== 'unknown';
      this.change(groupAt(space, 'key', key), (stretches) =>
        isKnown ? stretches.set(key, key, row) : stretches.forget(key),
      );
    }
    if (changed.some(({ row }) => row === 'unknown')) {
      for (const { space, key } of entries)
        this.change(groupAt(space, 'entry', key), (stretches) => stretches.forget(key));
    } else this.moveEntries(changed, entries);
  }

  private moveEntries(
    changed: readonly ChangedRow[],
    entries: readonly { readonly space: Space; readonly key: Key }[],
  ): void {
    const keys = new Set(changed.map(({ key }) => key));
    for (const { space, key } of entries)
      this.change(groupAt(space, 'entry', key), (stretches) => stretches.drop(key, keys));
    for (const { space, key, row } of changed) {
      if (!row || row === 'unknown') continue;
      for (const entry of row.entries)
        this.change(groupAt(space, 'entry', entry), (stretches) => stretches.set(entry, key, row));
    }
  }

  private change(group: Group, change: (stretches: Stretches) => void): void {
    const [young, old] = [this.young.get(group), this.old.get(group)];
    if (old) change(old);
    if (!young) return;
    this.youngBytes -= young.bytes;
    change(young);
    this.youngBytes += young.bytes;
  }

  private dropGroup(group: Group): void {
    this.youngBytes -= this.young.get(group)?.bytes ?? 0;
    this.young.delete(group);
    this.old.delete(group);
  }
}
