/**
 * The index of one table: where its blocks are, a fence for each block (a key that separates it from the block before),
 * and a Bloom filter. The filter has the keys of a row table, or the terms of an entry table.
 */
import type { Family } from '../families.ts';
import { Block } from './block.ts';
import { BlockWriter } from './block-writer.ts';
import { bloomHash, bloomOf, mayContain } from './bloom.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { sealed, unsealed } from './sealed.ts';

export class TableIndexWriter {
  private readonly fences: BlockWriter;
  private readonly offsets: number[] = [];

  constructor(family: Family, newest: number) {
    this.fences = new BlockWriter(family, newest);
  }

  /** @param offset of the block's first id from the first id of the table */
  addBlock(key: string, owner: string, offset: number): void {
    this.fences.add(key, owner, NO_BODY);
    this.offsets.push(offset);
  }

  /**
   * @param end the offset behind the last block
   * @param hashes of the keys or terms in the filter; if empty, there is no filter
   */
  finish(end: number, hashes: readonly number[]): Uint8Array {
    const out = new ByteWriter();
    const bloom = bloomOf(hashes);
    out.number(bloom.length);
    out.append(bloom);
    out.number(this.offsets.length);
    for (const offset of [...this.offsets, end]) out.number(offset);
    out.append(this.fences.finish());
    return sealed(out.view());
  }
}

const NO_BODY = new Uint8Array(0);

export class TableIndex {
  readonly blocks: number;
  readonly bytes: number;
  private readonly bloom: Uint8Array;
  private readonly offsets: Uint32Array;
  private readonly fences: Block;

  /** @throws Malformed */
  constructor(stored: Uint8Array) {
    const reader = new ByteReader(unsealed(stored));
    this.bytes = stored.length;
    this.bloom = reader.take(reader.number());
    this.blocks = reader.number();
    this.offsets = new Uint32Array(this.blocks + 1);
    for (const at of this.offsets.keys()) this.offsets[at] = reader.number();
    this.fences = new Block(reader.take(reader.end - reader.at));
  }

  get family(): Family {
    return this.fences.family;
  }

  /** The number of the last log record that went into the table. */
  get newest(): number {
    return this.fences.newest;
  }

  /** Offsets of the first and the last id of a block. */
  span(block: number): { readonly first: number; readonly last: number } {
    return { first: this.offsets[block] ?? 0, last: (this.offsets[block + 1] ?? 0) - 1 };
  }

  /** The last block that does not begin after (key, owner), or the first block if all begin after it. */
  blockOf(key: string, owner: string): number {
    return this.fences.floor(key, owner)?.ordinal ?? 0;
  }

  mayContain(key: string): boolean {
    return this.bloom.length === 0 || mayContain(this.bloom, bloomHash(key));
  }
}
