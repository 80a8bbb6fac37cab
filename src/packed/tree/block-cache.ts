/** Blocks and table indexes in memory. Their ids are given once, so what is cached is right for ever. */
import { Generations } from '../../store/generations.ts';
import type { Block } from '../codec/block.ts';
import type { TableIndex } from '../codec/table-index.ts';
import { tablesOf, type Manifest, type Table } from '../manifest.ts';

const OVERHEAD_BYTES = 200;

export class BlockCache {
  private readonly blocks: Generations<number, Block>;
  private readonly indexes = new Map<number, TableIndex>();

  constructor(bytesMax: number) {
    this.blocks = new Generations(bytesMax, () => new Map());
  }

  block(id: number): Block | undefined {
    const recent = this.blocks.recent(id);
    if (recent) return recent;
    const former = this.blocks.former(id);
    if (former) this.put(id, former);
    return former;
  }

  put(id: number, block: Block): void {
    this.blocks.put(id, block, block.bytes.length + OVERHEAD_BYTES);
  }

  index({ first }: Table): TableIndex | undefined {
    return this.indexes.get(first);
  }

  putIndex({ first }: Table, index: TableIndex): void {
    this.indexes.set(first, index);
  }

  /** Forgets the indexes of tables that are in none of these. */
  keepIndexesOf(manifests: readonly Manifest[]): void {
    const kept = new Set(manifests.flatMap((each) => tablesOf(each).map(({ first }) => first)));
    for (const first of this.indexes.keys()) if (!kept.has(first)) this.indexes.delete(first);
  }
}
