/**
 * A write set over a `Reader`. Reads see the writes of the overlay before the rows of the reader. An overlay contains the writes of the
 * running query and of earlier queries in the same commit, or the pending writes of a synced database.
 */
import { indexPrefixOf, type Key, sharedIndexPrefix } from '../codec/key.ts';
import { isTrackedSpace, TRACKED_SPACES } from './port.ts';
import type { Entry, Range, Row, RowAddress, Space, TrackedSpace, WriteSet } from './port.ts';
import type { Reader, Writer } from './reader.ts';
import { rangeAfter } from './scan.ts';
import { SortedEntries } from './sorted-entries.ts';

interface Layer {
  /** `undefined`: the row was deleted. */
  readonly rows: Map<Key, Row | undefined>;
  /** The index entries of `rows`. `keys` has their primary keys. */
  readonly entries: Buckets;
  readonly keys: Buckets;
}

/** The entries of each index or collection, by their shared prefix. */
type Buckets = Map<Key, Bucket>;

export class Overlay implements Writer {
  readonly base: Reader;
  private layers: Layers = noLayers();
  /** Approximate size of the writes. */
  bytes = 0;

  constructor(base: Reader) {
    this.base = base;
  }

  get isEmpty(): boolean {
    return TRACKED_SPACES.every((space) => !this.layers[space]?.rows.size);
  }

  row(address: RowAddress, assumed?: 'absent'): Row | undefined {
    const rows = layerOf(this.layers, address.space)?.rows;
    // Checked first, because most queries write nothing, and comparing a number is cheaper than a lookup by key.
    if (rows && rows.size > 0 && rows.has(address.key)) return rows.get(address.key);
    return this.base.row(address, assumed);
  }

  range(range: Range, assumed?: 'empty'): readonly Entry[] {
    const layer = layerOf(this.layers, range.space);
    if (!layer || layer.rows.size === 0) return this.base.range(range, assumed);
    const own = ownEntries(range.by === 'entry' ? layer.entries : layer.keys, range);
    const page = this.base.range(range, assumed);
    if (own.length === 0 && !page.some((entry) => layer.rows.has(entry.key))) return page;
    return merged((rest) => this.base.range(rest, assumed), { range, page }, own, layer.rows);
  }

  put(space: TrackedSpace, row: Row): void {
    const layer = this.layerFor(space);
    this.take(layer, row.key);
    layer.rows.set(row.key, row);
    this.bytes += row.key.length + row.value.length;
    addTo(layer.keys, { entry: row.key, key: row.key, row });
    for (const entry of row.entries) {
      this.bytes += entry.length;
      addTo(layer.entries, { entry, key: row.key, row });
    }
  }

  delete(space: TrackedSpace, key: Key): void {
    const layer = this.layerFor(space);
    this.take(layer, key);
    layer.rows.set(key, undefined);
    this.bytes += key.length;
  }

  discard(space: TrackedSpace, key: Key): void {
    const layer = this.layers[space];
    if (!layer) return;
    this.take(layer, key);
    layer.rows.delete(key);
  }

  writes(): WriteSet {
    const puts: { space: TrackedSpace; row: Row }[] = [];
    const deletes: RowAddress[] = [];
    for (const space of TRACKED_SPACES)
      for (const [key, row] of this.layers[space]?.rows ?? [])
        if (row) puts.push({ space, row });
        else deletes.push({ space, key });
    return { puts, deletes };
  }

  /** The same writes over another reader. Both overlays share the writes: a later write to one is visible in the other. */
  over(base: Reader): Overlay {
    const view = new Overlay(base);
    view.layers = this.layers;
    view.bytes = this.bytes;
    return view;
  }

  /** Discards all writes. */
  clear(): void {
    this.layers = noLayers();
    this.bytes = 0;
  }

  /** Adds the writes of an overlay that lies over this one. */
  absorb(writes: WriteSet): void {
    for (const { space, row } of writes.puts) if (isTrackedSpace(space)) this.put(space, row);
    for (const { space, key } of writes.deletes) if (isTrackedSpace(space)) this.delete(space, key);
  }

  private layerFor(space: TrackedSpace): Layer {
    return (this.layers[space] ??= { rows: new Map(), entries: new Map(), keys: new Map() });
  }

  private take(layer: Layer, key: Key): void {
    const row = layer.rows.get(key);
    if (!row) return;
    removeFrom(layer.keys, key, key);
    for (const entry of row.entries) removeFrom(layer.entries, entry, key);
  }
}

/** Undefined: nothing was written to the space. */
type Layers = Record<TrackedSpace, Layer | undefined>;

const noLayers = (): Layers => ({ documents: undefined, history: undefined, sync: undefined });

const layerOf = (layers: Layers, space: Space): Layer | undefined =>
  isTrackedSpace(space) ? layers[space] : undefined;

/** The overlay's own entries in the range, in the direction of the range. */
function ownEntries(buckets: Buckets, range: Range): readonly Entry[] {
  const { lower, upper, reverse } = range;
  const one = sharedIndexPrefix(lower, upper);
  if (one) return buckets.get(one)?.within(range) ?? [];
  const first = indexPrefixOf(lower);
  const prefixes = [...buckets.keys()].filter((each) => each >= first && each < upper).sort();
  if (reverse) prefixes.reverse();
  return prefixes.flatMap((each) => buckets.get(each)?.within(range) ?? []);
}

/**
 * Merges the entries of the base whose rows the overlay has not replaced with the overlay's own entries. Reads on in the base as long
 * as replaced rows leave the page short.
 * @param first the first page of the base
 */
function merged(
  read: (rest: Range) => readonly Entry[],
  first: { readonly range: Range; readonly page: readonly Entry[] },
  own: readonly Entry[],
  replaced: ReadonlyMap<Key, Row | undefined>,
): readonly Entry[] {
  const { range } = first;
  const isBefore = range.reverse ? (a: Key, b: Key) => a > b : (a: Key, b: Key) => a < b;
  const result: Entry[] = [];
  let ownAt = 0;
  let rest = range;
  for (let { page } = first; ; page = read(rest)) {
    for (const entry of page) {
      for (let mine = own[ownAt]; mine && isBefore(mine.entry, entry.entry); mine = own[++ownAt])
        result.push(mine);
      if (!replaced.has(entry.key)) result.push(entry);
      if (result.length >= range.limit) return result.slice(0, range.limit);
    }
    const last = page.at(-1);
    if (page.length < rest.limit || !last) break;
    rest = rangeAfter(rest, last);
  }
  for (let mine = own[ownAt]; mine && result.length < range.limit; mine = own[++ownAt])
    result.push(mine);
  return result;
}

/** The entries of one index or collection. New ones are put in order when they are read, because most buckets are never read. */
class Bucket {
  private readonly sorted = SortedEntries.empty();
  private added: Entry[] = [];

  add(entry: Entry): void {
    this.added.push(entry);
  }

  delete(entry: Key, key: Key): void {
    this.inOrder().delete(entry, key);
  }

  within(range: Range): readonly Entry[] {
    return this.inOrder().within(range);
  }

  private inOrder(): SortedEntries {
    for (const entry of this.added) this.sorted.put(entry);
    this.added = [];
    return this.sorted;
  }
}

function addTo(buckets: Buckets, entry: Entry): void {
  const name = indexPrefixOf(entry.entry);
  let bucket = buckets.get(name);
  if (!bucket) buckets.set(name, (bucket = new Bucket()));
  bucket.add(entry);
}

const removeFrom = (buckets: Buckets, entry: Key, key: Key): void =>
  buckets.get(indexPrefixOf(entry))?.delete(entry, key);
