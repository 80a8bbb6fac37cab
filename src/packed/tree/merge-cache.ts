/**
 * What a merge reads. What queries have in memory it need not read again, and what it makes of that stays in memory; all else is
 * not read again soon, and would only be in the way there.
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
  /** Of the blocks that were read since one was made. */
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
