/** A cursor over one family of a memtable. */
import { keyAfter, keyOfBytes } from '../../codec/key.ts';
import type { Entry, Row } from '../../store/port.ts';
import type { SortedEntries } from '../../store/sorted-entries.ts';
import { compareItemKeys } from '../manifest.ts';
import type { Cursor, Span } from './cursor.ts';
import { DELETED } from './memtable.ts';

const ITEMS_MIN = 16;
const GROWTH = 4;

export class MemtableCursor implements Cursor {
  state: Cursor['state'] = 'item';
  key = '';
  owner = '';
  isDeleted = false;
  private readonly list: SortedEntries;
  private readonly span: Span;
  private readonly hasOwners: boolean;
  private items: readonly Entry[] = [];
  private limit: number;
  private at = 0;

  constructor(list: SortedEntries, span: Span, hasOwners: boolean) {
    this.list = list;
    this.span = span;
    this.hasOwners = hasOwners;
    this.limit = Math.max(span.items, ITEMS_MIN);
    this.read();
    this.skipRead();
    this.show();
  }

  next(): void {
    this.at += 1;
    if (this.at === this.items.length && this.at === this.limit) {
      this.limit *= GROWTH;
      this.read();
    }
    this.show();
  }

  row(): Row | undefined {
    return this.items[this.at]?.row;
  }

  private show(): void {
    const item = this.items[this.at];
    if (!item) {
      this.state = 'end';
      return;
    }
    this.key = item.entry;
    this.owner = this.hasOwners ? item.key : '';
    this.isDeleted = item.row === DELETED;
  }

  private read(): void {
    const { lower, upper, reverse, after } = this.span;
    const { limit } = this;
    // Other items with the key of `after` may still follow, because they differ in their owners.
    const from = after && !reverse ? { lower: keyOfBytes(after.key) } : undefined;
    const to = after && reverse ? { upper: keyAfter(keyOfBytes(after.key)) } : undefined;
    this.items = this.list.within({ lower, upper, limit, reverse, ...from, ...to });
  }

  private skipRead(): void {
    const { after, reverse } = this.span;
    if (!after) return;
    for (;;) {
      const item = this.items[this.at];
      if (!item) return;
      const place = { key: item.entry, owner: this.hasOwners ? item.key : '' };
      const order = compareItemKeys(place, after);
      if (reverse ? order < 0 : order > 0) return;
      this.at += 1;
      if (this.at < this.items.length || this.at < this.limit) continue;
      this.limit *= GROWTH;
      this.read();
    }
  }
}
