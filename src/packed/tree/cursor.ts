/** A place in one source of a range: the memtable, or a run. */
import { keyOfBytes, type Key } from '../../codec/key.ts';
import type { Row } from '../../store/port.ts';
import type { ItemKey } from '../manifest.ts';

/** Above every key, whatever its bytes. */
export const ABOVE_ALL = keyOfBytes('\u0100');

/** `[lower, upper)` in one direction, or what is left of it behind `after`. */
export interface Span {
  readonly lower: Key;
  readonly upper: Key;
  readonly reverse: boolean;
  /** Where it was read to: only what comes behind that in its direction. */
  readonly after: ItemKey | undefined;
  /** What all its entries begin with, if that is the terms of one match: tables without them need not be read. */
  readonly terms: Key | undefined;
  /** About so many items will be read. */
  readonly items: number;
}

export interface Cursor {
  /** `missing`: a block is needed that is not cached; it was noted. */
  state: 'item' | 'missing' | 'end';
  /** Of the item. */
  key: string;
  owner: string;
  isDeleted: boolean;
  next(): void;
  /** The item's row, when the source has it: of an entry only the memtable has. */
  row(): Row | undefined;
}
