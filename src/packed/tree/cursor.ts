/** A cursor over one source of a range scan: a memtable or a run. */
import { keyOfBytes, type Key } from '../../codec/key.ts';
import type { Row } from '../../store/port.ts';
import type { ItemKey } from '../manifest.ts';

/** Greater than every key. */
export const ABOVE_ALL = keyOfBytes('\u0100');

/** A range `[lower, upper)` in one direction, or the rest of it behind `after`. */
export interface Span {
  readonly lower: Key;
  readonly upper: Key;
  readonly reverse: boolean;
  /** The last item that was read. The scan continues behind it in its direction. */
  readonly after: ItemKey | undefined;
  /**
   * The terms that all entries of the range begin with, if they have all terms in common. Tables whose filter lacks
   * them are skipped.
   */
  readonly terms: Key | undefined;
  /** Estimated number of items that will be read. */
  readonly items: number;
}

export interface Cursor {
  /** `missing`: a block is needed that is not cached. It was noted. */
  state: 'item' | 'missing' | 'end';
  /** The current item. */
  key: string;
  owner: string;
  isDeleted: boolean;
  next(): void;
  /** The item's row, if the source has it. For index entries only memtables have it. */
  row(): Row | undefined;
}
