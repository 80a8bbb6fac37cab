/** Synchronous reads of cached blocks. Blocks that are not cached are noted and loaded together. */
import { joinBytes } from '../../codec/join-bytes.ts';
import { Block } from '../codec/block.ts';
import { TableIndex } from '../codec/table-index.ts';
import { readingOf } from '../damage.ts';
import { PACKED_LIMITS } from '../limits.ts';
import { idsOf, type IdRange, type Table } from '../manifest.ts';
import type { MediumSnapshot, StoredBlock } from '../medium.ts';
import type { Cache } from './block-cache.ts';

/** Thrown when a block of a version no longer exists: another tab has merged its table, or the block is lost. */
export class BlockMissing extends Error {
  readonly id: number;
  constructor(id: number) {
    super(`Block ${id} is not there.`);
    this.id = id;
  }
}

interface Wanted extends IdRange {
  /** Estimated bytes to load. */
  readonly bytes: number;
  readonly take: (bytes: Uint8Array) => void;
}

interface Held {
  readonly block: Block;
  /** The last pass of the fetch that used the block. */
  run: number;
}

/** Loading requests about this many bytes at a time, so that large results are consumed before more blocks come. */
const WANTED_BYTES_MAX = 8 * 1024 * 1024;
/** Beyond this size, blocks that the last pass has not used are released. */
const HELD_BYTES_MAX = 16 * 1024 * 1024;

export class BlockAccess {
  private readonly cache: Cache;
  private wanted = new Map<number, Wanted>();
  private wantedBytes = 0;
  /**
   * Blocks that this fetch has used. A small cache may have evicted them before all blocks that are needed together are
   * loaded.
   */
  private readonly held = new Map<number, Held>();
  private heldBytes = 0;
  /** Number of the current pass. A pass of the fetch ends when its missing blocks are requested. */
  private run = 0;

  constructor(cache: Cache) {
    this.cache = cache;
  }

  get isMissing(): boolean {
    return this.wanted.size > 0;
  }

  /** Returns undefined and notes the index if it is not cached. */
  index(table: Table): TableIndex | undefined {
    const cached = this.cache.index(table);
    if (cached || this.wanted.has(table.first + table.index)) return cached;
    const { last } = idsOf(table);
    const first = table.first + table.index;
    const take = (bytes: Uint8Array): void =>
      this.cache.putIndex(
        table,
        readingOf(
          () => `block ${first}`,
          () => new TableIndex(bytes),
        ),
      );
    const bytes = (last - first + 1) * PACKED_LIMITS.partBytes;
    this.wanted.set(first, { first, last, bytes, take });
    return undefined;
  }

  /** Returns undefined if the block is not cached, and notes it unless enough bytes are noted already. */
  block(table: Table, index: TableIndex, at: number): Block | undefined {
    const span = index.span(at);
    const first = table.first + span.first;
    const held = this.held.get(first);
    if (held) {
      held.run = this.run;
      return held.block;
    }
    const known = this.cache.block(first);
    if (known) this.hold(first, known);
    if (known || this.wanted.has(first) || this.wantedBytes >= WANTED_BYTES_MAX) return known;
    const take = (bytes: Uint8Array): void => {
      const named = (): string => `block ${first}`;
      const block = readingOf(named, () => new Block(bytes));
      this.cache.put(first, block);
      this.hold(first, block);
    };
    const inParts = (span.last - span.first) * PACKED_LIMITS.partBytes;
    const bytes = Math.max(inParts, table.bytes / index.blocks);
    this.wanted.set(first, { first, last: table.first + span.last, bytes, take });
    this.wantedBytes += bytes;
    return undefined;
  }

  private hold(first: number, block: Block): void {
    const held = this.held.get(first);
    if (held) held.run = this.run;
    else {
      this.held.set(first, { block, run: this.run });
      this.heldBytes += block.bytes.length;
    }
  }

  /** Releases blocks that the ending pass has not used. The next pass may need the others together with the loaded ones. */
  private endRun(): void {
    if (this.heldBytes > HELD_BYTES_MAX)
      for (const [first, { block, run }] of this.held) {
        if (run === this.run) continue;
        this.held.delete(first);
        this.heldBytes -= block.bytes.length;
      }
    this.run += 1;
  }

  /** The noted blocks as ranges for the medium. The result of the read must be passed to `take`. */
  request(): {
    readonly ranges: readonly IdRange[];
    readonly take: (found: MediumSnapshot) => void;
  } {
    const wanted = [...this.wanted.values()].sort((a, b) => a.first - b.first);
    this.wanted = new Map();
    this.wantedBytes = 0;
    this.endRun();
    return { ranges: rangesOf(wanted), take: ({ blocks }) => takeAll(wanted, blocks.flat()) };
  }
}

/** Adjacent blocks share a range of up to about `PACKED_LIMITS.rangeBytes`. */
function rangesOf(wanted: readonly Wanted[]): readonly IdRange[] {
  const ranges: { first: number; last: number }[] = [];
  let left = 0;
  for (const { first, last, bytes } of wanted) {
    const ofEach = bytes / (last - first + 1);
    for (let id = first; id <= last; id += 1) {
      const range = ranges.at(-1);
      if (range?.last === id - 1 && ofEach <= left) range.last = id;
      else {
        ranges.push({ first: id, last: id });
        left = PACKED_LIMITS.rangeBytes;
      }
      left -= ofEach;
    }
  }
  return ranges;
}

/** @throws BlockMissing */
function takeAll(wanted: readonly Wanted[], found: readonly StoredBlock[]): void {
  let at = 0;
  for (const { first, last, take } of wanted) {
    const parts: Uint8Array[] = [];
    for (let id = first; id <= last; id += 1, at += 1) {
      const stored = found[at];
      if (stored?.id !== id) throw new BlockMissing(id);
      parts.push(stored.bytes);
    }
    take(joinBytes(parts));
  }
}
