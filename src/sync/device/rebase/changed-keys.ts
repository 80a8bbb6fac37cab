/** The stored documents that a commit of the copy changes. Pending writes that read any of them run again. */
import type { Key } from '../../../codec/key.ts';
import type { Row, WriteSet } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { Reads } from '../state/outbox-record.ts';
import { SortedKeys } from './sorted-keys.ts';

/** Keys of changed documents, and of their index entries before and after the change. */
export class ChangedKeys {
  readonly rows = new SortedKeys();
  private readonly entries = new SortedKeys();

  add(key: Key, ...versions: readonly (Pick<Row, 'entries'> | undefined)[]): void {
    this.rows.add(key);
    for (const version of versions)
      for (const entry of version?.entries ?? []) this.entries.add(entry);
  }

  /** Adds the effects of a write that was executed, or whose effects are no longer shown. */
  addEffects(effects: WriteSet | undefined, reader: Reader): void {
    const present = (key: Key) => reader.row({ space: 'documents', key }, 'absent');
    for (const { space, row } of effects?.puts ?? [])
      if (space === 'documents') this.add(row.key, row, present(row.key));
    for (const { space, key } of effects?.deletes ?? [])
      if (space === 'documents') this.add(key, present(key));
  }

  /** Whether a write with these effects and reads may have another result now. */
  affects(effects: WriteSet | undefined, reads: Reads | 'all'): boolean {
    if (!effects) return true;
    if (this.rows.size === 0) return false;
    if (effects.puts.some(({ row }) => this.rows.has(row.key))) return true;
    if (effects.deletes.some(({ key }) => this.rows.has(key))) return true;
    if (reads === 'all') return true;
    if (reads.rows.some(({ key }) => this.rows.has(key))) return true;
    return reads.ranges.some((range) =>
      (range.by === 'entry' ? this.entries : this.rows).hasIn(range),
    );
  }
}
