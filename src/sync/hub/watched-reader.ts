/** Notes what rights were found to rest on: rows and ranges of documents that predicates, memberships and sets looked at. */
import { collectionPrefix, databaseOf, documentKeyOf, after, type Key } from '../../codec/key.ts';
import { unpackVersion } from '../../codec/row.ts';
import { isNativeEntry } from '../../engine/catalog.ts';
import type { Entry, Range, Row, RowAddress } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import { type Micros } from '../../values/value.ts';
import { NATIVE } from '../../values/native-kinds.ts';

export interface WatchedRange {
  readonly by: Range['by'];
  readonly lower: Key;
  readonly upper: Key;
}

export class WatchedReader implements Reader {
  readonly rows = new Set<Key>();
  readonly ranges = new Map<string, WatchedRange>();
  /** First time from now on at which something looked at lapses. */
  lapses: Micros = Infinity;
  private readonly base: Reader;
  private readonly present: Micros;
  private own: Key | undefined;

  constructor(base: Reader, present: Micros) {
    this.base = base;
    this.present = present;
  }

  /** What is asked about a document: that its rights rest on itself goes without saying. */
  about<T>(key: Key, ask: () => T): T {
    const before = this.own;
    this.own = key;
    try {
      return ask();
    } finally {
      this.own = before;
    }
  }

  row(address: RowAddress): Row | undefined {
    this.noteRow(address);
    return this.lapsing(this.base.row(address));
  }

  rowAssumedAbsent(address: RowAddress): Row | undefined {
    this.noteRow(address);
    return this.lapsing(this.base.rowAssumedAbsent(address));
  }

  range(range: Range): readonly Entry[] {
    this.noteRange(range);
    return this.base.range(range);
  }

  rangeAssumedEmpty(range: Range): readonly Entry[] {
    this.noteRange(range);
    return this.base.rangeAssumedEmpty(range);
  }

  private noteRow({ space, key }: RowAddress): void {
    if (space === 'documents' && key !== this.own) this.rows.add(key);
  }

  private lapsing(row: Row | undefined): Row | undefined {
    if (row && row.key !== this.own) {
      const { ttl } = unpackVersion(String(row.value));
      if (ttl !== undefined && ttl > this.present) this.lapses = Math.min(this.lapses, ttl);
    }
    return row;
  }

  private noteRange({ space, by, lower, upper }: Range): void {
    if (by === 'entry') {
      if (!isNativeEntry(lower)) this.addRange({ by, lower, upper });
      return;
    }
    // Versions of a document change with the document.
    if (space === 'history') this.noteRow({ space: 'documents', key: documentKeyOf(lower) });
    else if (space === 'documents' && !isSchemaRange(lower, upper))
      this.addRange({ by, lower, upper });
  }

  private addRange(range: WatchedRange): void {
    this.ranges.set(`${range.by} ${range.lower.length} ${range.lower}${range.upper}`, range);
  }
}

/** Changes of the schema are noticed without this. */
const SCHEMA = [
  NATIVE.collections,
  NATIVE.indexes,
  NATIVE.functions,
  NATIVE.roles,
  NATIVE.access_providers,
  NATIVE.databases,
];

function isSchemaRange(lower: Key, upper: Key): boolean {
  if (lower.length < PREFIX_BYTES) return false;
  const database = databaseOf(lower);
  return SCHEMA.some((collection) => {
    const prefix = collectionPrefix(database, collection);
    return lower.startsWith(prefix) && upper <= after(prefix);
  });
}

const PREFIX_BYTES = collectionPrefix(0, 0).length;
