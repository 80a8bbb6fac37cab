/**
 * Writes a block: sorted items, each without the prefix that its key shares with the key before. Every 16th item (a
 * restart) has its whole key, and the block ends with the offsets of the restarts, so that a key is found by binary
 * search. A checksum follows.
 */
import { isEntryFamily, type Family } from '../families.ts';
import { ByteWriter } from './byte-writer.ts';
import { sealed } from './sealed.ts';
import { sharedLength } from '../../values/shared-length.ts';

export const BLOCK_FORMAT = 1;
export const INTERVAL_ITEMS = 16;

export class BlockWriter {
  count = 0;
  private readonly out = new ByteWriter(16 * 1024);
  private readonly family: Family;
  private readonly hasOwners: boolean;
  private readonly newest: number;
  private restarts: number[] = [];
  private key = '';
  private owner = '';

  /** @param newest the number of the last log record that went into the run */
  constructor(family: Family, newest: number) {
    this.family = family;
    this.hasOwners = isEntryFamily(family);
    this.newest = newest;
    this.begin();
  }

  get bytes(): number {
    return this.out.length;
  }

  /** @param body undefined: the item is deleted */
  add(key: string, owner: string, body: Uint8Array | undefined): void {
    const { out } = this;
    if (this.count % INTERVAL_ITEMS === 0) {
      this.restarts.push(out.length);
      this.key = '';
      this.owner = '';
    }
    this.part(this.key, key);
    if (this.hasOwners) this.part(this.owner, owner);
    out.number(body ? body.length + 1 : 0);
    if (body) out.append(body);
    this.key = key;
    this.owner = owner;
    this.count += 1;
  }

  /** Returns the finished block and starts another. */
  finish(): Uint8Array {
    const { out, restarts } = this;
    for (const restart of restarts) out.uint32(restart);
    out.uint32(restarts.length);
    const block = sealed(out.view());
    this.begin();
    return block;
  }

  private begin(): void {
    const { out } = this;
    out.clear();
    out.byte(BLOCK_FORMAT);
    out.byte(this.family);
    out.number(this.newest);
    this.count = 0;
    this.restarts = [];
  }

  private part(former: string, text: string): void {
    const shared = sharedLength(former, text);
    this.out.number(shared);
    this.out.number(text.length - shared);
    this.out.raw(text, shared);
  }
}
