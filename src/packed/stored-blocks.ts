/** All stored blocks, found without a manifest and assembled from their parts. */
import { joinBytes } from '../codec/join-bytes.ts';
import { Block } from './codec/block.ts';
import { BLOCK_FORMAT } from './codec/block-writer.ts';
import { Malformed } from './codec/byte-reader.ts';
import { TableIndex } from './codec/table-index.ts';
import { isFamily } from './families.ts';
import type { IdRange } from './manifest.ts';
import type { Medium, StoredBlock } from './medium.ts';

export interface WholeBlock {
  readonly ids: IdRange;
  readonly block: Block;
}

const PARTS_AT_A_TIME = 64;

/** @param damaged called for each part that belongs to no readable block */
export async function* storedBlocks(
  medium: Pick<Medium, 'read'>,
  damaged: (what: string) => void,
): AsyncGenerator<WholeBlock> {
  const parts = new BlockParts(damaged);
  for (let after = -1; ;) {
    const range = { first: after + 1, last: Number.MAX_SAFE_INTEGER, limit: PARTS_AT_A_TIME };
    const [found = []] = (await medium.read(undefined, [range])).blocks;
    for (const part of found) yield* parts.add(part);
    const last = found.at(-1);
    if (!last) break;
    after = last.id;
  }
  parts.end();
}

/** Parts of 28 MB together: a row is never that large. */
const WAITING_MAX = 512;

class BlockParts {
  private readonly damaged: (what: string) => void;
  /** Parts of a block whose last part has not been read yet. */
  private waiting: StoredBlock[] = [];

  constructor(damaged: (what: string) => void) {
    this.damaged = damaged;
  }

  /**
   * Adds a part. Returns the block that it completes. Returns nothing if the block is not complete yet, or if the part
   * belongs to no block.
   */
  add(part: StoredBlock): readonly WholeBlock[] {
    const before = this.waiting.at(-1);
    if (before && (part.id !== before.id + 1 || this.waiting.length >= WAITING_MAX)) this.end();
    this.waiting.push(part);
    // An empty part is damaged, but a block assembled with it would look complete. So it is reported.
    if (part.bytes.length === 0) {
      this.end();
      return [];
    }
    for (const from of this.starts()) {
      const whole = read(this.waiting.slice(from));
      if (!whole) continue;
      this.waiting.length = from;
      this.end();
      return whole;
    }
    return [];
  }

  /**
   * Indexes of the waiting parts at which a block that ends with the last part may begin. Parts before the block are
   * those of a damaged one.
   */
  private starts(): readonly number[] {
    const last = this.waiting.length - 1;
    return [...this.waiting.keys()].filter(
      (at) => at === 0 || at === last || beginsBlock(this.waiting[at]),
    );
  }

  end(): void {
    for (const { id } of this.waiting) this.damaged(`block ${id}`);
    this.waiting = [];
  }
}

const beginsBlock = (part: StoredBlock | undefined): boolean =>
  part?.bytes[0] === BLOCK_FORMAT && isFamily(part.bytes[1] ?? -1);

/** Returns the block; nothing for an index; undefined if the parts are neither. */
function read(parts: readonly StoredBlock[]): readonly WholeBlock[] | undefined {
  const bytes = joinBytes(parts.map((part) => part.bytes));
  try {
    const block = new Block(bytes);
    const first = parts[0]?.id ?? 0;
    return [{ ids: { first, last: first + parts.length - 1 }, block }];
  } catch (reason) {
    if (!(reason instanceof Malformed)) throw reason;
    return isIndex(bytes) ? [] : undefined;
  }
}

function isIndex(bytes: Uint8Array): boolean {
  try {
    return new TableIndex(bytes).blocks > 0;
  } catch (reason) {
    if (reason instanceof Malformed) return false;
    throw reason;
  }
}
