/** What some commits have changed, to be compared with what many queries have read. */
import { documentKeyOf, type Key } from '../codec/key.ts';
import type { CommitNotice, ReadSet } from '../engine/host.ts';
import { firstIndex } from '../store/binary-search.ts';

type Changed = CommitNotice['rows'][number] | CommitNotice['entries'][number];

export class Changes {
  private readonly changed = new Set<string>();
  private readonly rows = new Map<string, KeysOfSpace>();
  private readonly entries = new Map<string, KeysOfSpace>();
  /** Anything may have changed. */
  private readonly isUnknown: boolean;

  /** @param notices undefined: they are too many, or some are missing */
  constructor(notices: readonly CommitNotice[] | undefined) {
    this.isUnknown = notices === undefined;
    for (const notice of notices ?? []) {
      for (const { space, key } of notice.rows) {
        this.changed.add(`${space} ${key}`);
        // With a row of its history a document has changed, too: a deleted one has no other.
        this.changed.add(`documents ${documentKeyOf(key)}`);
      }
      collect(this.rows, notice.rows);
      collect(this.entries, notice.entries);
    }
  }

  /** Whether an answer for which this was read may have changed. */
  touches({ rows, ranges }: ReadSet): boolean {
    return (
      this.isUnknown ||
      rows.some(({ space, key }) => this.changed.has(`${space} ${key}`)) ||
      ranges.some(({ space, by, lower, upper }) =>
        (by === 'key' ? this.rows : this.entries).get(space)?.hasWithin(lower, upper),
      )
    );
  }
}

function collect(into: Map<string, KeysOfSpace>, changed: readonly Changed[]): void {
  for (const { space, key } of changed) {
    const keys = into.get(space) ?? new KeysOfSpace();
    into.set(space, keys);
    keys.add(key);
  }
}

class KeysOfSpace {
  private readonly keys = new Set<Key>();
  private sorted: readonly Key[] | undefined = undefined;

  add(key: Key): void {
    this.keys.add(key);
  }

  hasWithin(lower: Key, upper: Key): boolean {
    this.sorted ??= [...this.keys].sort((one, other) => (one < other ? -1 : 1));
    const { sorted } = this;
    const found = sorted[firstIndex(sorted.length, (index) => (sorted[index] ?? upper) < lower)];
    return found !== undefined && found < upper;
  }
}
