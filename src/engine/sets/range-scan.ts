/** Reads one range of the store in batches that grow. */
import type { Key } from '../../codec/key.ts';
import { LIMITS } from '../../limits.ts';
import { Refusal } from '../../errors.ts';
import type { Entry, Range } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import type { Meters } from '../context/meters.ts';
import { grown, grownAfterSkip, type SetCursor, type SetRequest } from './set-cursor.ts';
import type { Cut, Tuple } from './tuple.ts';

export interface Stretch extends Pick<Range, 'space' | 'by' | 'rows' | 'prefetch'> {
  readonly lower: Key;
  readonly upper: Key;
}

/** Where entries are read from, and what counts them. */
export interface Source {
  readonly reader: Reader;
  readonly meters: Meters;
  /** Of the index read. */
  readonly partitions: number;
}

/** A leaf of sets: what is decoded from one stretch of keys. */
export class Leaf<T = Tuple> implements SetCursor<T> {
  private readonly source: Source;
  private readonly stretch: Stretch;
  private readonly backward: boolean;
  private readonly keyOf: (cut: Cut) => Key;
  private readonly decode: (entry: Entry) => T | undefined;
  private lower: Key;
  private upper: Key;
  private limit: number;
  private skipped = false;
  private isFirst = true;
  private ended: boolean;

  /**
   * @param keyOf the first key that is not before the cut
   * @param decode undefined: not a member
   */
  constructor(
    source: Source,
    stretch: Stretch,
    request: SetRequest,
    keyOf: (cut: Cut) => Key,
    decode: (entry: Entry) => T | undefined,
  ) {
    this.source = source;
    this.stretch = stretch;
    this.backward = request.backward;
    this.keyOf = keyOf;
    this.decode = decode;
    this.limit = request.first;
    this.lower = stretch.lower;
    this.upper = stretch.upper;
    for (const cut of request.lower) this.raise(keyOf(cut));
    for (const cut of request.upper) this.drop(keyOf(cut));
    this.ended = this.lower >= this.upper;
  }

  narrow(cut: Cut): void {
    const before = this.backward ? this.upper : this.lower;
    if (this.backward) this.drop(this.keyOf(cut));
    else this.raise(this.keyOf(cut));
    if ((this.backward ? this.upper : this.lower) !== before) this.skipped = true;
    if (this.lower >= this.upper) this.ended = true;
  }

  pull(): readonly T[] {
    while (!this.ended) {
      const tuples: T[] = [];
      for (const entry of this.nextEntries()) {
        const tuple = this.decode(entry);
        if (tuple) tuples.push(tuple);
      }
      if (tuples.length > 0) return tuples;
    }
    return [];
  }

  private nextEntries(): readonly Entry[] {
    const { space, by, rows, prefetch = false } = this.stretch;
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
    else this.lower = (last.entry + '\0') as Key;
    this.limit = this.skipped ? grownAfterSkip(limit) : grown(limit);
    this.skipped = false;
    return entries;
  }

  private count(entries: readonly Entry[], limit: number): void {
    const { meters, partitions } = this.source;
    meters.work.scannedEntries += entries.length;
    if (meters.work.scannedEntries > LIMITS.scanMax) {
      throw new Refusal(
        'limit_exceeded',
        `The query reads more than the limit of ${LIMITS.scanMax} set entries.`,
      );
    }
    let bytes = 0;
    for (const { entry } of entries) bytes += entry.length;
    const what = `${this.stretch.space}${this.backward ? '-' : '+'}${limit}|${this.lower}|${this.upper}`;
    meters.noteRead(what, bytes, this.isFirst ? partitions : 1);
    this.isFirst = false;
  }

  private raise(key: Key): void {
    if (key > this.lower) this.lower = key;
  }

  private drop(key: Key): void {
    if (key < this.upper) this.upper = key;
  }
}
