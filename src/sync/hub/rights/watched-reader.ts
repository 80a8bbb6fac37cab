/** Records what rights depend on: the rows and ranges that predicates, memberships and sets read. */
import { collectionPrefix, databaseOf, documentKeyOf, type Key } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import { unpackVersion } from '../../../codec/row.ts';
import { isNativeEntry } from '../../../engine/catalog.ts';
import type { Entry, Range, Row, RowAddress } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { ScanRange } from '../../../store/scan.ts';
import { type Micros } from '../../../values/value.ts';
import { NATIVE } from '../../../values/native-kinds.ts';
import { RIGHTS_COLLECTIONS } from './rights-collections.ts';

export type WatchedRange = Required<ScanRange>;

export class WatchedReader implements Reader {
  readonly rows = new Set<Key>();
  readonly ranges = new Map<string, WatchedRange>();
  /** When the first of the documents that were read expires. */
  expiresAt: Micros = Infinity;
  private readonly base: Reader;
  private readonly present: Micros;
  private own: Key | undefined;

  constructor(base: Reader, present: Micros) {
    this.base = base;
    this.present = present;
  }

  /** Decides on a document. The dependence of the decision on the document itself is not recorded. */
  whileDeciding<T>(key: Key, decide: () => T): T {
    const before = this.own;
    this.own = key;
    try {
      return decide();
    } finally {
      this.own = before;
    }
  }

  row(address: RowAddress, assumed?: 'absent'): Row | undefined {
    this.watchRow(address);
    return this.watchExpiry(this.base.row(address, assumed));
  }

  range(range: Range, assumed?: 'empty'): readonly Entry[] {
    this.watchRange(range);
    return this.base.range(range, assumed);
  }

  private watchRow({ space, key }: RowAddress): void {
    if (space === 'documents' && key !== this.own) this.rows.add(key);
  }

  private watchExpiry(row: Row | undefined): Row | undefined {
    if (row && row.key !== this.own) {
      const { ttl } = unpackVersion(String(row.value));
      if (ttl !== undefined && ttl > this.present) this.expiresAt = Math.min(this.expiresAt, ttl);
    }
    return row;
  }

  private watchRange({ space, by, lower, upper }: Range): void {
    if (by === 'entry') {
      if (!isNativeEntry(lower)) this.addRange({ by, lower, upper });
      return;
    }
    // Versions of a document change only with the document.
    if (space === 'history') this.watchRow({ space: 'documents', key: documentKeyOf(lower) });
    else if (space === 'documents' && !isSchemaRange(lower, upper))
      this.addRange({ by, lower, upper });
  }

  private addRange(range: WatchedRange): void {
    this.ranges.set(`${range.by} ${range.lower.length} ${range.lower}${range.upper}`, range);
  }
}

/** Changes of the schema are detected in another way (`RIGHTS_COLLECTIONS`), so reads of it are not recorded. */
const SCHEMA = [...RIGHTS_COLLECTIONS, NATIVE.databases];

function isSchemaRange(lower: Key, upper: Key): boolean {
  if (lower.length < PREFIX_BYTES) return false;
  const database = databaseOf(lower);
  return SCHEMA.some((collection) => {
    const all = prefixRange(collectionPrefix(database, collection));
    return lower >= all.lower && upper <= all.upper;
  });
}

const PREFIX_BYTES = collectionPrefix(0, 0).length;
