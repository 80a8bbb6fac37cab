/** Scans one range over all sources of a version. When a block is missing, the scan stops, and continues there later. */
import { keyOfBytes, sharedTermsPrefix, type Key } from '../../codec/key.ts';
import {
  entryBytes,
  isEntrySpace,
  rowBytes,
  type Entry,
  type Range,
  type Row,
} from '../../store/port.ts';
import { entryFamily, isEntryFamily, rowFamily, type Family } from '../families.ts';
import type { ItemKey } from '../manifest.ts';
import type { BlockAccess } from './block-access.ts';
import type { Cursor, Span } from './cursor.ts';
import { MemtableCursor } from './memtable-cursor.ts';
import { RunCursor } from './run-cursor.ts';
import { MISSING, pointRow } from './point-get.ts';
import type { Version } from './version.ts';

export class RangeScan {
  readonly found: Entry[] = [];
  /** True if the range has more items than were found. */
  isCut = false;
  bytes = 0;
  private readonly version: Version;
  private readonly range: Range;
  private readonly family: Family | undefined;
  private readonly rowsFrom: Family;
  private readonly terms: Key | undefined;
  /** The last item that the scan has passed. */
  private after: ItemKey | undefined = undefined;
  private isAtEnd = false;
  /** Found entries before this index have their rows. */
  private filled = 0;

  constructor(version: Version, range: Range) {
    this.version = version;
    this.range = range;
    this.rowsFrom = rowFamily(range.space);
    if (range.by === 'key') this.family = this.rowsFrom;
    else this.family = isEntrySpace(range.space) ? entryFamily(range.space) : undefined;
    this.terms = range.by === 'entry' ? sharedTermsPrefix(range.lower, range.upper) : undefined;
    this.isAtEnd = range.lower >= range.upper || range.limit < 1 || this.family === undefined;
  }

  /** Continues the scan, up to `bytesMax` bytes in total. Returns false when a block is missing. */
  run(access: BlockAccess, bytesMax: number): boolean {
    const mayGoOn = !this.isAtEnd && !this.isCut;
    if (mayGoOn && this.family !== undefined) this.scan(access, this.family, bytesMax);
    return this.fill(access, bytesMax) && (this.isAtEnd || this.isCut);
  }

  /** Ends the scan, because the result has no room for more. */
  stop(): void {
    const isWhole = (this.isAtEnd || this.isCut) && this.filled === this.found.length;
    if (isWhole) return;
    this.isCut = true;
    this.found.length = this.filled;
  }

  private scan(access: BlockAccess, family: Family, bytesMax: number): void {
    const cursors = this.cursors(access, family);
    for (;;) {
      const first = leading(cursors, this.range.reverse);
      if (first === 'missing') return;
      if (!first || this.found.length >= this.range.limit) {
        this.isAtEnd = true;
        return;
      }
      if (!first.isDeleted) {
        if (this.bytes >= bytesMax) {
          this.isCut = true;
          return;
        }
        this.take(first, isEntryFamily(family));
      }
      this.after = { key: first.key, owner: first.owner };
      pass(cursors, first);
    }
  }

  private take(cursor: Cursor, isEntry: boolean): void {
    const entry = keyOfBytes(cursor.key);
    const key = isEntry ? keyOfBytes(cursor.owner) : entry;
    const row = this.range.rows ? cursor.row() : undefined;
    const each: Entry = { entry, key, row };
    this.found.push(each);
    this.bytes += entryBytes(each);
  }

  /** Loads the rows of entries that were found without them. */
  private fill(access: BlockAccess, bytesMax: number): boolean {
    if (!this.range.rows || this.range.by === 'key') {
      this.filled = this.found.length;
      return true;
    }
    let isWhole = true;
    for (let at = this.filled; at < this.found.length; at += 1) {
      const entry = this.found[at];
      if (!entry || entry.row) continue;
      const row = this.rowOf(access, entry.key);
      if (row === MISSING) isWhole = false;
      else if (row) {
        this.found[at] = { entry: entry.entry, key: entry.key, row };
        this.bytes += rowBytes(row);
      }
    }
    if (isWhole) this.filled = this.found.length;
    if (isWhole && this.bytes > bytesMax) this.truncate(bytesMax);
    return isWhole;
  }

  private rowOf(access: BlockAccess, key: Key): Row | undefined | typeof MISSING {
    return pointRow(this.version, this.rowsFrom, key, access, true);
  }

  /** Removes entries beyond the limit: without their rows they were below it. */
  private truncate(bytesMax: number): void {
    let bytes = 0;
    const end = this.found.findIndex((entry) => {
      if (bytes >= bytesMax) return true;
      bytes += entryBytes(entry);
      return false;
    });
    if (end < 0) return;
    this.found.length = end;
    this.filled = end;
    this.bytes = bytes;
    this.isCut = true;
  }

  private cursors(access: BlockAccess, family: Family): Cursor[] {
    const { layers, manifest } = this.version;
    const { lower, upper, reverse, limit } = this.range;
    const { after, terms } = this;
    const span: Span = { lower, upper, reverse, after, terms, items: limit - this.found.length };
    return [
      ...layers.map(
        ({ memtable }) =>
          new MemtableCursor(memtable.families[family], span, isEntryFamily(family)),
      ),
      ...manifest.families[family].map((run) => new RunCursor(run, access, span)),
    ];
  }
}

/** The cursor with the next item. Of cursors at the same item the one of the newest source is returned. */
function leading(cursors: readonly Cursor[], reverse: boolean): Cursor | undefined | 'missing' {
  let first: Cursor | undefined;
  for (const cursor of cursors) {
    if (cursor.state === 'missing') return 'missing';
    if (cursor.state === 'end') continue;
    if (!first || (reverse ? isBefore(first, cursor) : isBefore(cursor, first))) first = cursor;
  }
  return first;
}

/** Moves all cursors that are at this item. */
function pass(cursors: readonly Cursor[], first: Cursor): void {
  if (cursors.length === 1) return first.next();
  const { key, owner } = first;
  for (const cursor of cursors)
    if (cursor.state === 'item' && cursor.key === key && cursor.owner === owner) cursor.next();
}

const isBefore = (a: Cursor, b: Cursor): boolean =>
  a.key < b.key || (a.key === b.key && a.owner < b.owner);
