/** Reads one range of the store in batches of growing size. */
import { type Key, keyAfter } from '../../codec/key.ts';
import type { Entry, Range } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import type { Meters } from '../context/meters.ts';
import { grown, grownAfterSkip, type SetCursor, type SetRequest } from './set-cursor.ts';
import type { Bound, Tuple } from './tuple.ts';

export interface ScanRange extends Pick<Range, 'space' | 'by' | 'rows' | 'prefetch'> {
  readonly lower: Key;
  readonly upper: Key;
}

/** Where entries are read from, and the meters that count them. */
export interface Source {
  readonly reader: Reader;
  readonly meters: Meters;
  /** The partitions of the index that is read; 1 for collections. */
  readonly partitions: number;
}

/** Units of work for reading a range, and for each entry in it. */
const RANGE_WORK = 5_000;
const ENTRY_WORK = 1_000;
/** Entries whose work is charged at once. */
const CHARGED = 1024;

/** Scans one range of keys and decodes its entries. These scans are the leaves of set expressions. */
export class RangeScan<T = Tuple> implements SetCursor<T> {
  private readonly source: Source;
  private readonly scanRange: ScanRange;
  private readonly backward: boolean;
  private readonly entryWork: number;
  private readonly keyOf: (bound: Bound) => Key;
  private readonly decode: (entry: Entry) => T | undefined;
  private lower: Key;
  private upper: Key;
  private limit: number;
  private skipped = false;
  private isFirst = true;
  private ended: boolean;

  /**
   * @param keyOf returns the first key that is not before the bound
   * @param decode returns undefined if the entry is not a member of the set
   */
  constructor(
    source: Source,
    scanRange: ScanRange,
    request: SetRequest,
    keyOf: (bound: Bound) => Key,
    decode: (entry: Entry) => T | undefined,
  ) {
    this.source = source;
    this.scanRange = scanRange;
    this.backward = request.backward;
    this.keyOf = keyOf;
    this.decode = decode;
    this.entryWork = ENTRY_WORK + request.tupleWork;
    this.limit = request.first;
    this.lower = scanRange.lower;
    this.upper = scanRange.upper;
    for (const bound of request.lower) this.raise(keyOf(bound));
    for (const bound of request.upper) this.drop(keyOf(bound));
    this.ended = this.lower >= this.upper;
  }

  narrow(bound: Bound): void {
    const before = this.backward ? this.upper : this.lower;
    if (this.backward) this.drop(this.keyOf(bound));
    else this.raise(this.keyOf(bound));
    if ((this.backward ? this.upper : this.lower) !== before) this.skipped = true;
    if (this.lower >= this.upper) this.ended = true;
  }

  pull(): readonly T[] {
    while (!this.ended) {
      const tuples: T[] = [];
      const { budget } = this.source.meters;
      const entries = this.nextEntries();
      budget.spend(RANGE_WORK);
      let index = 0;
      for (const entry of entries) {
        if (index % CHARGED === 0) {
          budget.spend(this.entryWork * Math.min(entries.length - index, CHARGED));
        }
        index += 1;
        const tuple = this.decode(entry);
        if (tuple) tuples.push(tuple);
      }
      if (tuples.length > 0) return tuples;
    }
    return [];
  }

  private nextEntries(): readonly Entry[] {
    const { space, by, rows, prefetch = false } = this.scanRange;
    const limit = this.limit;
    const entries = this.source.reader.range({
      space,
      by,
      rows,
      prefetch,
      lower: this.lower,
      upper: this.upper,
      reverse: this.backward,
      limit,
    });
    this.count(entries, limit);
    const last = entries.at(-1);
    if (!last || entries.length < limit) this.ended = true;
    else if (this.backward) this.upper = last.entry;
    else this.lower = keyAfter(last.entry);
    this.limit = this.skipped ? grownAfterSkip(limit) : grown(limit);
    this.skipped = false;
    return entries;
  }

  private count(entries: readonly Entry[], limit: number): void {
    const { meters, partitions } = this.source;
    meters.countEntries(entries.length);
    let bytes = 0;
    for (const { entry } of entries) bytes += entry.length;
    const what = `${this.scanRange.space}${this.backward ? '-' : '+'}${limit}|${this.lower}|${this.upper}`;
    meters.countRead(what, bytes, this.isFirst ? partitions : 1);
    this.isFirst = false;
  }

  private raise(key: Key): void {
    if (key > this.lower) this.lower = key;
  }

  private drop(key: Key): void {
    if (key < this.upper) this.upper = key;
  }
}
