/**
 * Blocks and table indexes in memory. An id is never reused, so a cached block never becomes stale. Blocks are evicted
 * oldest first, but a block that was used since it was added or last spared is spared once (the CLOCK algorithm).
 */
import type { Block } from '../codec/block.ts';
import type { TableIndex } from '../codec/table-index.ts';
import { tablesOf, type IdRange, type Manifest, type Table } from '../manifest.ts';

const OVERHEAD_BYTES = 200;
/** Part of the cache that stays after an eviction. */
const KEPT = 7 / 8;

interface Cached {
  readonly block: Block;
  wasUsed: boolean;
}

export interface Cache {
  block(id: number): Block | undefined;
  put(id: number, block: Block): void;
  index(table: Table): TableIndex | undefined;
  putIndex(table: Table, index: TableIndex): void;
}

export class BlockCache implements Cache {
  private readonly bytesMax: number;
  private bytes = 0;
  /** In the order of eviction, oldest first. */
  private readonly blocks = new Map<number, Cached>();
  private readonly indexes = new Map<number, TableIndex>();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  block(id: number): Block | undefined {
    const cached = this.blocks.get(id);
    if (!cached) return undefined;
    cached.wasUsed = true;
    return cached.block;
  }

  /** Returns the block without marking it as used. */
  peek(id: number): Block | undefined {
    return this.blocks.get(id)?.block;
  }

  put(id: number, block: Block): void {
    if (this.blocks.has(id)) return;
    this.blocks.set(id, { block, wasUsed: false });
    this.bytes += weightOf(block);
    if (this.bytes > this.bytesMax) this.evict();
  }

  /** Bytes of the cached blocks. */
  get blockBytes(): number {
    return this.bytes;
  }

  /** Bytes of the cached table indexes. */
  get indexBytes(): number {
    let bytes = 0;
    for (const index of this.indexes.values()) bytes += index.bytes + OVERHEAD_BYTES;
    return bytes;
  }

  index({ first }: Table): TableIndex | undefined {
    return this.indexes.get(first);
  }

  putIndex({ first }: Pick<Table, 'first'>, index: TableIndex): void {
    this.indexes.set(first, index);
  }

  /** Removes the blocks and indexes of all tables that none of these manifests contains. */
  keepTablesOf(manifests: readonly Manifest[]): void {
    const kept = new Set(manifests.flatMap((each) => tablesOf(each).map(({ first }) => first)));
    for (const [first, index] of this.indexes) {
      if (kept.has(first)) continue;
      this.indexes.delete(first);
      this.dropBlocks({ first, last: first + index.span(index.blocks - 1).last });
    }
  }

  private dropBlocks({ first, last }: IdRange): void {
    for (let id = first; id <= last; id += 1) this.drop(id);
  }

  private drop(id: number): void {
    const cached = this.blocks.get(id);
    if (!cached) return;
    this.blocks.delete(id);
    this.bytes -= weightOf(cached.block);
  }

  /**
   * Evicts until there is room for many blocks. A map is slow to iterate from its start after deletions there, so this
   * runs rarely.
   */
  private evict(): void {
    const bytesMax = this.bytesMax * KEPT;
    for (const [id, cached] of this.blocks) {
      if (this.bytes <= bytesMax) return;
      this.drop(id);
      if (!cached.wasUsed) continue;
      cached.wasUsed = false;
      this.blocks.set(id, cached);
      this.bytes += weightOf(cached.block);
    }
  }
}

const weightOf = ({ bytes }: Block): number => bytes.length + OVERHEAD_BYTES;
