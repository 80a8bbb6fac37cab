/** Writes sorted items as tables of blocks. */
import { termsPrefixOf, type Key } from '../../codec/key.ts';
import { bloomHash } from '../codec/bloom.ts';
import { BlockWriter } from '../codec/block-writer.ts';
import { sharedLength } from '../../values/shared-length.ts';
import { TableIndexWriter } from '../codec/table-index.ts';
import { isEntryFamily, type Family } from '../families.ts';
import type { PackedLimits } from '../limits.ts';
import type { ItemKey, Table } from '../manifest.ts';
import type { StoredBlock } from '../medium.ts';

export interface TableWriterOptions {
  readonly family: Family;
  /** The greatest number of a log record in the tables. */
  readonly newest: number;
  /** Id of the first block. The ids of the others follow it. */
  readonly firstId: number;
  readonly limits: PackedLimits;
  /** Receives each complete block by its first id, and each index by the first id of its table. */
  readonly sink?: TableSink;
}

export interface TableSink {
  block(first: number, bytes: Uint8Array): void;
  index(first: number, bytes: Uint8Array): void;
}

interface OpenTable {
  readonly first: number;
  readonly low: ItemKey;
  readonly index: TableIndexWriter;
  readonly hashes: number[];
  items: number;
}

export class TableWriter {
  /** Finished tables. */
  readonly tables: Table[] = [];
  /** The next unused id. */
  nextId: number;
  private readonly options: TableWriterOptions;
  private readonly block: BlockWriter;
  private readonly blockBytes: number;
  private readonly hasOwners: boolean;
  /** The terms that were last added to the filter of this table. */
  private terms: Key | undefined = undefined;
  private stored: StoredBlock[] = [];
  private storedBytes = 0;
  private table: OpenTable | undefined = undefined;
  private tableBytes = 0;
  private blockLow: ItemKey = NOWHERE;
  /** Last item of the previous block, and of all items so far. */
  private formerHigh: ItemKey = NOWHERE;
  private high: ItemKey = NOWHERE;

  constructor(options: TableWriterOptions) {
    const { family, newest, firstId, limits } = options;
    this.options = options;
    this.nextId = firstId;
    this.block = new BlockWriter(family, newest);
    this.hasOwners = isEntryFamily(family);
    this.blockBytes = this.hasOwners ? limits.blockBytes : limits.rowBlockBytes;
  }

  /** @param body undefined: the item is deleted */
  add(key: string, owner: string, body: Uint8Array | undefined): void {
    const { block, blockBytes, options } = this;
    if (block.count > 0 && block.bytes + (body?.length ?? 0) > blockBytes) this.endBlock();
    if (this.tableBytes >= options.limits.tableBytes) this.endTable();
    if (block.count === 0) this.blockLow = { key, owner };
    this.table ??= this.newTable({ key, owner });
    block.add(key, owner, body);
    this.table.items += 1;
    this.filter(this.table, key);
    this.high = { key, owner };
  }

  /**
   * Adds to the filter the key of a row, by which rows are looked up, or the terms of an index entry. Adjacent entries
   * often have the same terms.
   */
  private filter({ hashes }: OpenTable, key: string): void {
    if (!this.hasOwners) {
      hashes.push(bloomHash(key));
      return;
    }
    if (this.terms !== undefined && key.startsWith(this.terms)) return;
    this.terms = termsPrefixOf(key);
    if (this.terms !== undefined) hashes.push(bloomHash(this.terms));
  }

  /** Whether there are enough bytes to put. */
  get isDue(): boolean {
    return this.storedBytes >= this.options.limits.putBytes;
  }

  /** Returns the blocks to put if there are enough of them. */
  due(): readonly StoredBlock[] | undefined {
    return this.isDue ? this.takeStored() : undefined;
  }

  /** Ends the last table. Returns the last blocks to put. No items may be added afterwards. */
  finish(): readonly StoredBlock[] {
    this.endTable();
    return this.takeStored();
  }

  private newTable(low: ItemKey): OpenTable {
    const { family, newest } = this.options;
    const index = new TableIndexWriter(family, newest);
    return { first: this.nextId, low, index, hashes: [], items: 0 };
  }

  private endBlock(): void {
    const { block, table, blockLow } = this;
    if (block.count === 0 || !table) return;
    const isFirst = this.nextId === table.first;
    const fence = isFirst ? NOWHERE : fenceBetween(this.formerHigh, blockLow);
    table.index.addBlock(fence.key, fence.owner, this.nextId - table.first);
    this.formerHigh = this.high;
    const bytes = block.finish();
    this.options.sink?.block(this.nextId, bytes);
    this.tableBytes += this.store(bytes);
  }

  private endTable(): void {
    this.endBlock();
    const { table } = this;
    if (!table) return;
    const { first, low, items, hashes } = table;
    const index = this.nextId - first;
    const indexBytes = table.index.finish(index, hashes);
    this.options.sink?.index(first, indexBytes);
    const bytes = this.store(indexBytes) + this.tableBytes;
    const indexParts = this.nextId - first - index;
    this.tables.push({ first, index, indexParts, items, bytes, low, high: this.high });
    this.table = undefined;
    this.terms = undefined;
    this.tableBytes = 0;
  }

  private store(bytes: Uint8Array): number {
    const { partBytes } = this.options.limits;
    for (let at = 0; at < bytes.length; at += partBytes) {
      const part = bytes.length <= partBytes ? bytes : bytes.slice(at, at + partBytes);
      this.stored.push({ id: this.nextId, bytes: part });
      this.nextId += 1;
    }
    this.storedBytes += bytes.length;
    return bytes.length;
  }

  private takeStored(): readonly StoredBlock[] {
    const { stored } = this;
    this.stored = [];
    this.storedBytes = 0;
    return stored;
  }
}

const NOWHERE: ItemKey = { key: '', owner: '' };

/** The shortest key that is after all items of the previous block and not after the first item of this one. */
function fenceBetween(before: ItemKey, low: ItemKey): ItemKey {
  if (before.key === low.key) return low;
  return { key: low.key.slice(0, sharedLength(before.key, low.key) + 1), owner: '' };
}
