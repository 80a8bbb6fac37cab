/**
 * Which entries stand in stretches of one index or collection: a range that lies within what is known is answered, however it was
 * asked before. A commit changes what it wrote, and leaves the rest of a stretch known.
 */
import type { Key } from '../codec/key.ts';
import { ENTRY_OVERHEAD_BYTES, entryBytes, type Entry, type Range, type Row } from './port.ts';

/** The order of entries: several rows may have the same one. */
interface Place {
  readonly entry: string;
  readonly key: string;
}

/** All there is from `from` on and before `to`. */
interface Stretch {
  readonly from: Place;
  readonly to: Place;
  readonly entries: Entry[];
}

/** Neighbours become one up to so many entries: a change moves those behind it in memory. */
const JOINED_MAX = 256;

export class Stretches {
  /** In order. They may touch, and never overlap. */
  private readonly list: Stretch[] = [];
  /** Rough size. */
  bytes = 0;

  /** The entries of a range, when all of them are known. Rows may be missing, also when the range brings them along. */
  find(range: Range): readonly Entry[] | undefined {
    const { lower, upper, limit, reverse } = range;
    if (lower >= upper || limit <= 0) return [];
    return reverse ? this.findDown(range) : this.findUp(range);
  }

  /** @param found all entries of the range, or its first `limit` ones */
  keep({ lower, upper, limit, reverse }: Range, found: readonly Entry[]): void {
    if (lower >= upper || limit <= 0) return;
    const entries = reverse ? found.toReversed() : [...found];
    const isWhole = found.length < limit;
    const last = found.at(-1);
    const from = last && reverse && !isWhole ? { entry: last.entry, key: last.key } : start(lower);
    const to = last && !reverse && !isWhole ? behind(last) : start(upper);
    this.cutOut(from, to);
    this.insert({ from, to, entries });
  }

  /** What is under this entry is not known any more. */
  forget(entry: Key): void {
    this.cutOut(start(entry), start(`${entry}\0`));
  }

  /** None of these rows is under this entry any more. */
  drop(entry: Key, keys: ReadonlySet<Key>): void {
    const [from, to] = [start(entry), start(`${entry}\0`)];
    const { list } = this;
    for (const { entries } of list.slice(this.countEnded(from), this.countBegunBefore(to))) {
      for (let at = countBefore(entries, from); entries[at]?.entry === entry;) {
        const isGone = keys.has(entries[at]?.key ?? entry);
        if (isGone) this.bytes -= bytesOf(entries.splice(at, 1));
        else at += 1;
      }
    }
  }

  /** The row stands under this entry as it is now; undefined: not any more. */
  set(entry: Key, key: Key, row: Row | undefined): void {
    const place = { entry, key };
    const stretch = this.list[this.countBegun(place) - 1];
    if (!stretch || !isBefore(place, stretch.to)) return;
    const { entries } = stretch;
    const at = countBefore(entries, place);
    const known = entries[at];
    const isThere = known?.entry === entry && known.key === key;
    const added = row ? [{ entry, key, row }] : [];
    this.bytes += bytesOf(added) - bytesOf(entries.splice(at, isThere ? 1 : 0, ...added));
  }

  private findUp({ lower, upper, limit }: Range): readonly Entry[] | undefined {
    const [begin, end] = [start(lower), start(upper)];
    let at = this.countBegun(begin) - 1;
    let stretch = this.list[at];
    if (!stretch || !isBefore(begin, stretch.to)) return undefined;
    let from = countBefore(stretch.entries, begin);
    const found: Entry[] = [];
    for (;;) {
      const { entries, to } = stretch;
      const inside = isBefore(to, end) ? entries.length : countBefore(entries, end);
      const until = Math.min(inside, from + limit - found.length);
      for (const each of entries.slice(from, until)) found.push(each);
      if (found.length >= limit || !isBefore(to, end)) return found;
      stretch = this.list[(at += 1)];
      if (!stretch || isBefore(to, stretch.from)) return undefined;
      from = 0;
    }
  }

  private findDown({ lower, upper, limit }: Range): readonly Entry[] | undefined {
    const [begin, end] = [start(lower), start(upper)];
    let at = this.countBegunBefore(end) - 1;
    let stretch = this.list[at];
    if (!stretch || isBefore(stretch.to, end)) return undefined;
    let until = countBefore(stretch.entries, end);
    const found: Entry[] = [];
    for (;;) {
      const { entries, from } = stretch;
      const inside = isBefore(from, begin) ? countBefore(entries, begin) : 0;
      const first = Math.max(inside, until - (limit - found.length));
      for (const each of entries.slice(first, until).reverse()) found.push(each);
      if (found.length >= limit || !isBefore(begin, from)) return found;
      stretch = this.list[(at -= 1)];
      if (!stretch || isBefore(stretch.to, from)) return undefined;
      until = stretch.entries.length;
    }
  }

  private cutOut(from: Place, to: Place): void {
    const { list } = this;
    const first = this.countEnded(from);
    const last = this.countBegunBefore(to);
    if (first >= last) return;
    const left: Stretch[] = [];
    for (const stretch of list.slice(first, last)) {
      const { entries } = stretch;
      const [begin, end] = [countBefore(entries, from), countBefore(entries, to)];
      this.bytes -= bytesOf(entries.slice(begin, end)) + ENTRY_OVERHEAD_BYTES;
      if (isBefore(stretch.from, from))
        left.push({ from: stretch.from, to: from, entries: entries.slice(0, begin) });
      if (isBefore(to, stretch.to))
        left.push({ from: to, to: stretch.to, entries: entries.slice(end) });
    }
    this.bytes += left.length * ENTRY_OVERHEAD_BYTES;
    list.splice(first, last - first, ...left);
  }

  /** Nothing of it is known yet. */
  private insert(stretch: Stretch): void {
    const { list } = this;
    this.bytes += bytesOf(stretch.entries) + ENTRY_OVERHEAD_BYTES;
    const at = this.countBegun(stretch.from);
    let [begin, whole] = [at, stretch];
    const [before, next] = [list[at - 1], list[at]];
    if (before && canJoin(before, whole)) {
      whole = joined(before, whole);
      begin -= 1;
    }
    const isNextIn = next !== undefined && canJoin(whole, next);
    if (isNextIn) whole = joined(whole, next);
    const gone = at - begin + (isNextIn ? 1 : 0);
    this.bytes -= gone * ENTRY_OVERHEAD_BYTES;
    list.splice(begin, gone, whole);
  }

  /** Stretches that begin there or before. */
  private countBegun(place: Place): number {
    const { list } = this;
    return countWhile(list.length, (i) => !isBefore(place, fromOf(list[i])));
  }

  /** Stretches that end there or before. */
  private countEnded(place: Place): number {
    const { list } = this;
    return countWhile(list.length, (i) => !isBefore(place, toOf(list[i])));
  }

  private countBegunBefore(place: Place): number {
    const { list } = this;
    return countWhile(list.length, (i) => isBefore(fromOf(list[i]), place));
  }
}

const start = (entry: string): Place => ({ entry, key: '' });
const behind = ({ entry, key }: Entry): Place => ({ entry, key: `${key}\0` });

const isBefore = (a: Place, b: Place): boolean =>
  a.entry < b.entry || (a.entry === b.entry && a.key < b.key);

const NOWHERE = start('');
const fromOf = (stretch: Stretch | undefined): Place => stretch?.from ?? NOWHERE;
const toOf = (stretch: Stretch | undefined): Place => stretch?.to ?? NOWHERE;

const canJoin = (a: Stretch, b: Stretch): boolean =>
  !isBefore(a.to, b.from) && a.entries.length + b.entries.length <= JOINED_MAX;

const joined = (a: Stretch, b: Stretch): Stretch => ({
  from: a.from,
  to: b.to,
  entries: [...a.entries, ...b.entries],
});

const countBefore = (entries: readonly Entry[], place: Place): number =>
  countWhile(entries.length, (i) => isBefore(entries[i] ?? NOWHERE, place));

/** How many of so many come first for which it is true; it is for none after them. */
function countWhile(length: number, isTrue: (i: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isTrue(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function bytesOf(entries: readonly Entry[]): number {
  let bytes = 0;
  for (const entry of entries) bytes += entryBytes(entry);
  return bytes;
}
