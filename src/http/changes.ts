/** The changes of some commits, indexed to be compared with the read sets of many queries. */
import { documentKeyOf, type Key } from '../codec/key.ts';
import type { CommitNotice, ReadSet } from '../engine/host.ts';
import { firstIndex } from '../store/binary-search.ts';
import type { RowAddress } from '../store/port.ts';

export class Changes {
  private readonly changed = new Set<string>();
  private readonly rows = new Map<string, KeysOfSpace>();
  private readonly entries = new Map<string, KeysOfSpace>();
  /** Some changes are not known, so every read set counts as changed. */
  private readonly isUnknown: boolean;

  /** @param notices undefined if there are too many commits, or notices are missing */
  constructor(notices: readonly CommitNotice[] | undefined) {
    this.isUnknown = notices === undefined;
    for (const notice of notices ?? []) {
      const rows = notice.rows.flatMap(withDocument);
      for (const { space, key } of rows) this.changed.add(`${space} ${key}`);
      collect(this.rows, rows);
      collect(this.entries, notice.entries);
    }
  }

  /** Whether the answer to a query with this read set may have changed. */
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

/** A new history row means that the document changed, too. If the document was deleted, this row is the only sign of it. */
const withDocument = (row: RowAddress): readonly RowAddress[] =>
  row.space === 'history' ? [row, { space: 'documents', key: documentKeyOf(row.key) }] : [row];

function collect(into: Map<string, KeysOfSpace>, changed: readonly RowAddress[]): void {
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
