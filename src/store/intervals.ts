/**
 * Cached entries of one index or collection, as intervals of keys. Any range inside of a cached interval can be answered, no matter
 * which ranges were read before. A commit changes only the entries that it wrote; the rest of the interval stays cached.
 */
import { type Key, keyAfter, keyOfBytes } from '../codec/key.ts';
import { firstAtOrAfter, firstIndex } from './binary-search.ts';
import { entriesBytes, entryBytes, type Entry, type Range, type Row } from './port.ts';

/** A position in the order of entries. Several rows may have the same entry. */
interface Position {
  readonly entry: string;
  readonly key: string;
}

/** All entries at or after `from` and before `to`. */
interface Interval {
  readonly from: Position;
  readonly to: Position;
  readonly entries: Entry[];
}

/** What an interval takes in memory beside its entries, with its bounds, in bytes. */
const INTERVAL_BYTES = 320;

/** Adjacent intervals are joined up to this many entries. Longer arrays would make each change slower: it moves all later entries. */
const JOINED_MAX = 256;

/** The first entries of a range, as far as the cache has them without a gap. */
interface Walked {
  readonly found: readonly Entry[];
  /** Where the first gap begins, in the direction of the range. Undefined: the whole range is cached. */
  readonly gap: Position | undefined;
}

export class Intervals {
  /** Ordered. They may be adjacent, but never overlap. */
  private readonly list: Interval[] = [];
  /** Approximate size. */
  bytes = 0;

  /** The entries of a range, if all of them are cached. They may come without rows, even if the range asks for rows. */
  find(range: Range): readonly Entry[] | undefined {
    const { found, gap } = this.walk(range);
    return gap ? undefined : found;
  }

  /** The uncached rest of a range whose beginning (in its direction) is cached. Undefined if all or nothing of the range is cached. */
  rest(range: Range): Range | undefined {
    const { found, gap } = this.walk(range);
    if (!gap) return undefined;
    // The gap may be between rows that have the same entry: then none of these rows counts as cached.
    const known = found.filter(({ entry }) => entry !== gap.entry);
    const at = keyOfBytes(gap.entry);
    const behind = gap.key === '' ? at : keyAfter(at);
    const isSame = range.reverse ? behind >= range.upper : at <= range.lower;
    if (isSame) return undefined;
    const bound = range.reverse ? { upper: behind } : { lower: at };
    return { ...range, ...bound, limit: range.limit - known.length };
  }

  /** Caches the result of a read. @param found all entries of the range, or its first `limit` entries */
  keep({ lower, upper, limit, reverse }: Range, found: readonly Entry[]): void {
    if (lower >= upper || limit <= 0) return;
    const entries = reverse ? found.toReversed() : [...found];
    const isWhole = found.length < limit;
    const last = found.at(-1);
    const from = last && reverse && !isWhole ? { entry: last.entry, key: last.key } : start(lower);
    const to = last && !reverse && !isWhole ? behind(last) : start(upper);
    this.remove(from, to);
    this.insert({ from, to, entries });
  }

  /** Evicts everything cached for this entry. */
  forget(entry: Key): void {
    this.remove(start(entry), start(keyAfter(entry)));
  }

  /** Removes these rows from this entry, because a commit removed them. */
  drop(entry: Key, keys: ReadonlySet<Key>): void {
    const [from, to] = [start(entry), start(keyAfter(entry))];
    const { list } = this;
    for (const { entries } of list.slice(this.countEnded(from), this.countBegunBefore(to))) {
      for (let at = countBefore(entries, from); entries[at]?.entry === entry;) {
        const isGone = keys.has(entries[at]?.key ?? entry);
        if (!isGone) at += 1;
        else for (const each of entries.splice(at, 1)) this.bytes -= entryBytes(each);
      }
    }
  }

  /** Stores the current row of this entry. Undefined: removes the row from the entry. */
  set(entry: Key, key: Key, row: Row | undefined): void {
    const position = { entry, key };
    const interval = this.list[this.countBegun(position) - 1];
    if (!interval || !isBefore(position, interval.to)) return;
    const { entries } = interval;
    const at = countBefore(entries, position);
    const known = entries[at];
    const isThere = known?.entry === entry && known.key === key;
    const added = row ? [{ entry, key, row }] : [];
    this.bytes += entriesBytes(added) - entriesBytes(entries.splice(at, isThere ? 1 : 0, ...added));
  }

  private walk(range: Range): Walked {
    const { lower, upper, limit, reverse } = range;
    if (lower >= upper || limit <= 0) return { found: [], gap: undefined };
    return reverse ? this.walkDown(range) : this.walkUp(range);
  }

  private walkUp({ lower, upper, limit }: Range): Walked {
    const [begin, end] = [start(lower), start(upper)];
    let at = this.countBegun(begin) - 1;
    let interval = this.list[at];
    if (!interval || !isBefore(begin, interval.to)) return { found: [], gap: begin };
    let from = countBefore(interval.entries, begin);
    const found: Entry[] = [];
    for (;;) {
      const { entries, to } = interval;
      const inside = isBefore(to, end) ? entries.length : countBefore(entries, end);
      const until = Math.min(inside, from + limit - found.length);
      for (const each of entries.slice(from, until)) found.push(each);
      if (found.length >= limit || !isBefore(to, end)) return { found, gap: undefined };
      interval = this.list[(at += 1)];
      if (!interval || isBefore(to, interval.from)) return { found, gap: to };
      from = 0;
    }
  }

  private walkDown({ lower, upper, limit }: Range): Walked {
    const [begin, end] = [start(lower), start(upper)];
    let at = this.countBegunBefore(end) - 1;
    let interval = this.list[at];
    if (!interval || isBefore(interval.to, end)) return { found: [], gap: end };
    let until = countBefore(interval.entries, end);
    const found: Entry[] = [];
    for (;;) {
      const { entries, from } = interval;
      const inside = isBefore(from, begin) ? countBefore(entries, begin) : 0;
      const first = Math.max(inside, until - (limit - found.length));
      for (const each of entries.slice(first, until).reverse()) found.push(each);
      if (found.length >= limit || !isBefore(begin, from)) return { found, gap: undefined };
      interval = this.list[(at -= 1)];
      if (!interval || isBefore(interval.to, from)) return { found, gap: from };
      until = interval.entries.length;
    }
  }

  private remove(from: Position, to: Position): void {
    const { list } = this;
    const first = this.countEnded(from);
    const last = this.countBegunBefore(to);
    if (first >= last) return;
    const left: Interval[] = [];
    for (const interval of list.slice(first, last)) {
      const { entries } = interval;
      const [begin, end] = [countBefore(entries, from), countBefore(entries, to)];
      this.bytes -= INTERVAL_BYTES + entriesBytes(entries.slice(begin, end));
      if (isBefore(interval.from, from))
        left.push({ from: interval.from, to: from, entries: entries.slice(0, begin) });
      if (isBefore(to, interval.to))
        left.push({ from: to, to: interval.to, entries: entries.slice(end) });
    }
    this.bytes += left.length * INTERVAL_BYTES;
    list.splice(first, last - first, ...left);
  }

  /** Adds an interval. No part of it may be cached yet. */
  private insert(interval: Interval): void {
    const { list } = this;
    this.bytes += INTERVAL_BYTES + entriesBytes(interval.entries);
    const at = this.countBegun(interval.from);
    let [begin, whole] = [at, interval];
    const [before, next] = [list[at - 1], list[at]];
    if (before && canJoin(before, whole)) {
      whole = joined(before, whole);
      begin -= 1;
    }
    const isNextIn = next !== undefined && canJoin(whole, next);
    if (isNextIn) whole = joined(whole, next);
    const gone = at - begin + (isNextIn ? 1 : 0);
    this.bytes -= gone * INTERVAL_BYTES;
    list.splice(begin, gone, whole);
  }

  /** Number of intervals that begin at or before the position. */
  private countBegun(position: Position): number {
    const { list } = this;
    return firstIndex(list.length, (i) => !isBefore(position, fromOf(list[i])));
  }

  /** Number of intervals that end at or before the position. */
  private countEnded(position: Position): number {
    const { list } = this;
    return firstIndex(list.length, (i) => !isBefore(position, toOf(list[i])));
  }

  private countBegunBefore(position: Position): number {
    const { list } = this;
    return firstIndex(list.length, (i) => isBefore(fromOf(list[i]), position));
  }
}

const start = (entry: string): Position => ({ entry, key: '' });
const behind = ({ entry, key }: Entry): Position => ({ entry, key: keyAfter(key) });

const isBefore = (a: Position, b: Position): boolean =>
  a.entry < b.entry || (a.entry === b.entry && a.key < b.key);

const NOWHERE = start('');
const fromOf = (interval: Interval | undefined): Position => interval?.from ?? NOWHERE;
const toOf = (interval: Interval | undefined): Position => interval?.to ?? NOWHERE;

const canJoin = (a: Interval, b: Interval): boolean =>
  !isBefore(a.to, b.from) && a.entries.length + b.entries.length <= JOINED_MAX;

const joined = (a: Interval, b: Interval): Interval => ({
  from: a.from,
  to: b.to,
  entries: [...a.entries, ...b.entries],
});

const countBefore = (entries: readonly Entry[], position: Position): number =>
  firstAtOrAfter(entries, position.entry, position.key);
