/** Collects the writes of a transaction and makes the record of its commit. */
import type { Key } from '../codec/key.ts';
import {
  isEntrySpace,
  KeyTaken,
  type Row,
  type RowAddress,
  type Space,
  type WriteSet,
} from '../store/port.ts';
import type { Change } from './codec/log-record.ts';

interface Written extends RowAddress {
  readonly row: Row | undefined;
  readonly isNew: boolean;
}

export class WrittenRows {
  private readonly spaces = new Map<Space, Map<Key, Written>>();

  apply({ puts, deletes }: WriteSet): void {
    for (const { space, key } of deletes) this.set({ space, key, row: undefined, isNew: false });
    for (const { space, row, isNew = false } of puts) this.set({ space, key: row.key, row, isNew });
  }

  get isEmpty(): boolean {
    return this.spaces.size === 0;
  }

  /**
   * Addresses of the rows that must be read before the commit: rows that may have index entries, and rows that must not
   * exist.
   */
  get needed(): readonly RowAddress[] {
    return this.all().filter(({ space, isNew }) => isNew || isEntrySpace(space));
  }

  /** @param former the rows at `needed`, in the same order @throws KeyTaken */
  changes(former: readonly (Row | undefined)[]): Change[] {
    let at = 0;
    return this.all().map(({ space, key, row, isNew }) => {
      const before = isNew || isEntrySpace(space) ? former[at++] : undefined;
      if (isNew && before) throw new KeyTaken();
      return { space, key, row, ended: endedEntries(before, row) };
    });
  }

  private set(written: Written): void {
    const { space, key } = written;
    let rows = this.spaces.get(space);
    if (!rows) this.spaces.set(space, (rows = new Map()));
    const isNew = written.isNew || rows.get(key)?.isNew === true;
    rows.set(key, { ...written, isNew });
  }

  private all(): Written[] {
    return [...this.spaces.values()].flatMap((rows) => [...rows.values()]);
  }
}

function endedEntries(before: Row | undefined, row: Row | undefined): readonly Key[] {
  if (!before || before.entries.length === 0) return NONE;
  if (!row) return before.entries;
  const kept = new Set(row.entries);
  return before.entries.filter((entry) => !kept.has(entry));
}

const NONE: readonly Key[] = [];
