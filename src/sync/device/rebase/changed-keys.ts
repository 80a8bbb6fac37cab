/** Which stored documents a commit of the copy changes: pending writes that read any of them run again. */
import type { Key } from '../../../codec/key.ts';
import type { Row } from '../../../store/port.ts';

/** Keys of changed documents, and of the index entries they had and have. */
export class Touched {
  readonly rows = new Set<Key>();
  readonly entries = new Set<Key>();

  note(key: Key, ...versions: readonly (Pick<Row, 'entries'> | undefined)[]): void {
    this.rows.add(key);
    for (const version of versions)
      for (const entry of version?.entries ?? []) this.entries.add(entry);
  }
}
