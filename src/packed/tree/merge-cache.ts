/**
 * The cache for the reads of a merge. Blocks in the cache of queries are taken from there, and blocks made of them are
 * put into it. All other blocks are kept out of it: they would not be read again soon, and would evict others.
 */
import { Block } from '../codec/block.ts';
import { TableIndex } from '../codec/table-index.ts';
import type { Table } from '../manifest.ts';
import { BlockCache, type Cache } from './block-cache.ts';
import type { TableSink } from './table-writer.ts';

const OWN_BYTES_MAX = 8 * 1024 * 1024;

export class MergeCache implements Cache {
  private readonly ofQueries: BlockCache;
  private readonly own = new BlockCache(OWN_BYTES_MAX);
  /** Blocks read since the last output block: those found in the cache of queries, and the others. */
  private known = 0;
  private unknown = 0;
  private mustKeep = false;

  constructor(ofQueries: BlockCache) {
    this.ofQueries = ofQueries;
  }

  block(id: number): Block | undefined {
    const found = this.ofQueries.peek(id);
    if (found) this.known += 1;
    else this.unknown += 1;
    return found ?? this.own.block(id);
  }

  put(id: number, block: Block): void {
    this.own.put(id, block);
  }

  index(table: Table): TableIndex | undefined {
    return this.ofQueries.index(table) ?? this.own.index(table);
  }

  putIndex(table: Table, index: TableIndex): void {
    this.own.putIndex(table, index);
  }

  readonly sink: TableSink = {
    block: (first, bytes) => {
      if (this.known + this.unknown > 0) this.mustKeep = this.known >= this.unknown;
      this.known = 0;
      this.unknown = 0;
      if (this.mustKeep) this.ofQueries.put(first, new Block(bytes));
    },
    index: (first, bytes) => this.ofQueries.putIndex({ first }, new TableIndex(bytes)),
  };
}
