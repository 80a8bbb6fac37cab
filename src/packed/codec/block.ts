/** Reads the blocks that `BlockWriter` writes. The bytes of a key become text only when the key is needed. */
import { isEntryFamily, isFamily, type Family } from '../families.ts';
import { ByteReader, Malformed, rawText } from './byte-reader.ts';
import { BLOCK_FORMAT, INTERVAL_ITEMS } from './block-writer.ts';
import { unsealed } from './sealed.ts';

/** Items of one interval, as columns. */
export interface Items {
  readonly keys: readonly string[];
  /** Primary keys, in an entry family. */
  readonly owners: readonly string[];
  /** Where the body begins and ends. `from` is -1 for a deleted item. */
  readonly from: readonly number[];
  readonly to: readonly number[];
}

export interface FoundItem {
  readonly ordinal: number;
  readonly isEqual: boolean;
  readonly from: number;
  readonly to: number;
}

const UINT32_BYTES = 4;

/** Compares one part (key or owner) of successive items with a text. */
class PartOrder {
  private readonly text: string;
  /** Number of leading bytes in which the last item's part equals the text. */
  private equal = 0;
  private order = 0;

  constructor(text: string) {
    this.text = text;
  }

  /**
   * Reads and compares the part of the next item. Bytes that it shares with the item before have been compared and are
   * not read again. The caller must check that the item ends within the block.
   */
  next(reader: ByteReader): number {
    const { bytes } = reader;
    let from = reader.at + 2;
    let shared = bytes[from - 2] ?? 0x80;
    let count = bytes[from - 1] ?? 0x80;
    if ((shared | count) >= 0x80) {
      shared = reader.number();
      count = reader.number();
      from = reader.at;
    }
    reader.at = from + count;
    // It shares the byte in which the item before differs from the text, so it compares the same.
    if (shared > this.equal) return this.order;
    const { text } = this;
    const length = shared + count;
    const min = Math.min(length, text.length);
    const shift = from - shared;
    for (let i = shared; i < min; i += 1) {
      const difference = (bytes[shift + i] ?? 0) - text.charCodeAt(i);
      if (difference === 0) continue;
      this.equal = i;
      return (this.order = difference);
    }
    this.equal = min;
    return (this.order = length - text.length);
  }
}

export class Block {
  readonly family: Family;
  /** The number of the last log record that went into its run. */
  readonly newest: number;
  readonly bytes: Uint8Array;
  readonly intervals: number;
  private readonly hasOwners: boolean;
  private readonly view: DataView;
  private readonly restartsAt: number;
  /** The first keys of intervals that have been compared already. Two texts are compared in one step. */
  private readonly firstKeys: string[] = [];

  /** @throws Malformed */
  constructor(stored: Uint8Array) {
    const bytes = unsealed(stored);
    const reader = new ByteReader(bytes);
    if (reader.byte() !== BLOCK_FORMAT) throw new Malformed('its format is unknown');
    const family = reader.byte();
    if (!isFamily(family)) throw new Malformed('its family is unknown');
    this.family = family;
    this.hasOwners = isEntryFamily(family);
    this.newest = reader.number();
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.intervals = this.view.getUint32(bytes.length - UINT32_BYTES, true);
    this.restartsAt = bytes.length - UINT32_BYTES * (this.intervals + 1);
  }

  /** The last interval that does not begin after (key, owner). 0 if all begin after it. */
  seek(key: string, owner: string): number {
    let low = 1;
    let high = this.intervals;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compareFirst(middle, key, owner) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /**
   * The last item that is not after (key, owner), if it is in this block. Makes no text of keys, which would take most
   * of the time of a look-up.
   * @throws Malformed
   */
  floor(key: string, owner: string): FoundItem | undefined {
    const interval = this.seek(key, owner);
    const reader = new ByteReader(this.bytes, this.restart(interval), this.restart(interval + 1));
    const ofKey = new PartOrder(key);
    const ofOwner = this.hasOwners ? new PartOrder(owner) : undefined;
    let ordinal = interval * INTERVAL_ITEMS - 1;
    let isEqual = false;
    let from = -1;
    let to = -1;
    while (!isEqual && reader.at < reader.end) {
      let order = ofKey.next(reader);
      const ownerOrder = ofOwner?.next(reader) ?? 0;
      if (order === 0) order = ownerOrder;
      if (order > 0) break;
      const length = reader.number();
      from = length === 0 ? -1 : reader.at;
      if (length > 1) reader.at += length - 1;
      to = reader.at;
      isEqual = order === 0;
      ordinal += 1;
    }
    // Each item begins where the item before it ends, so checking the end of the last one is enough.
    if (reader.at > reader.end) throw new Malformed('an item ends too late');
    return to < 0 ? undefined : { ordinal, isEqual, from, to };
  }

  /** The body of an item that `floor` found. Undefined if the item is deleted. */
  bodyOf({ from, to }: FoundItem): Uint8Array | undefined {
    return from < 0 ? undefined : this.bytes.subarray(from, to);
  }

  /** @throws Malformed */
  read(interval: number): Items {
    const reader = new ByteReader(this.bytes, this.restart(interval), this.restart(interval + 1));
    const keys: string[] = [];
    const owners: string[] = [];
    const from: number[] = [];
    const to: number[] = [];
    let key = '';
    let owner = '';
    for (let count = 0; count < INTERVAL_ITEMS && !reader.isAtEnd; count += 1) {
      key = nextPart(reader, key);
      if (this.hasOwners) owner = nextPart(reader, owner);
      const length = reader.number();
      keys.push(key);
      owners.push(owner);
      from.push(length === 0 ? -1 : reader.at);
      if (length > 1) reader.skip(length - 1);
      to.push(reader.at);
    }
    return { keys, owners, from, to };
  }

  /** The body of an item that `read` returned. Undefined if the item is deleted. */
  body({ from, to }: Items, at: number): Uint8Array | undefined {
    const begin = from[at] ?? -1;
    return begin < 0 ? undefined : this.bytes.subarray(begin, to[at]);
  }

  private restart(interval: number): number {
    return interval < this.intervals
      ? this.view.getUint32(this.restartsAt + UINT32_BYTES * interval, true)
      : this.restartsAt;
  }

  private compareFirst(interval: number, key: string, owner: string): number {
    const first = (this.firstKeys[interval] ??= this.readFirst(interval).delimited());
    if (first !== key) return first < key ? -1 : 1;
    return this.hasOwners ? this.compareFirstOwner(interval, owner) : 0;
  }

  private compareFirstOwner(interval: number, owner: string): number {
    const reader = this.readFirst(interval);
    reader.skip(reader.number());
    reader.number();
    const first = reader.delimited();
    return first === owner ? 0 : first < owner ? -1 : 1;
  }

  /** A reader behind the shared length of an interval's first key, which shares nothing. */
  private readFirst(interval: number): ByteReader {
    const reader = new ByteReader(this.bytes, this.restart(interval), this.restartsAt);
    reader.number();
    return reader;
  }
}

function nextPart(reader: ByteReader, former: string): string {
  const shared = reader.number();
  const rest = reader.number();
  if (rest === 0) return shared === former.length ? former : former.slice(0, shared);
  return former.slice(0, shared) + rawText(reader.take(rest));
}
