/** Test kit: a medium in memory. Several stores can share its data, as tabs share a database. */
import type { BlockRange, LogPart, MediumSnapshot, Medium, StoredBlock } from '../medium.ts';
import type { IdRange } from '../manifest.ts';
import { SerialQueue } from '../../store/serial-queue.ts';

/** In a range with fewer ids than this, each id is looked up. The ranges of tables are that small. */
const WALKED_MAX = 10_000;

export class MediumData {
  log: LogPart[] = [];
  lastNumber = 0;
  /** Queues the transactions that append, so that they run one at a time. */
  readonly appends = new SerialQueue();
  readonly blocks = new Map<number, Uint8Array>();
  /** Ids in ascending order. Undefined if they must be sorted again. */
  private ids: number[] | undefined = [];

  read(after: number | undefined, ranges: readonly BlockRange[]): MediumSnapshot {
    const log = after === undefined ? [] : this.log.filter(({ number }) => number > after);
    return { log, blocks: ranges.map((range) => this.within(range)) };
  }

  append(parts: readonly Uint8Array[], expected: number): boolean {
    if (this.lastNumber + 1 !== expected) {
      // As in a browser: the number of a single part is known only after its commit.
      if (parts.length === 1) this.log.push({ number: (this.lastNumber += 1), bytes: undefined });
      return false;
    }
    for (const bytes of parts) this.log.push({ number: (this.lastNumber += 1), bytes });
    return true;
  }

  putBlocks(blocks: readonly StoredBlock[]): void {
    for (const { id, bytes } of blocks) this.blocks.set(id, bytes);
    this.ids = undefined;
  }

  trim(logThrough: number, blocks: readonly IdRange[]): void {
    this.log = this.log.filter(({ number }) => number > logThrough);
    for (const range of blocks) for (const { id } of this.within(range)) this.blocks.delete(id);
    if (blocks.length > 0) this.ids = undefined;
  }

  private within({ first, last, limit = Infinity }: IdRange & BlockRange): StoredBlock[] {
    if (last - first < WALKED_MAX) return this.few(first, last, limit);
    this.ids ??= [...this.blocks.keys()].sort((a, b) => a - b);
    const found: StoredBlock[] = [];
    for (const id of this.ids)
      if (id >= first && id <= last && found.length < limit)
        found.push({ id, bytes: this.blocks.get(id) ?? new Uint8Array() });
    return found;
  }

  private few(first: number, last: number, limit: number): StoredBlock[] {
    const found: StoredBlock[] = [];
    for (let id = first; id <= last && found.length < limit; id += 1) {
      const bytes = this.blocks.get(id);
      if (bytes) found.push({ id, bytes });
    }
    return found;
  }
}

export function createMemoryMedium(data = new MediumData()): Medium {
  let reads = 0;
  return {
    async read(after, blocks) {
      reads += 1;
      return data.read(after, blocks);
    },
    append: (parts, expected) => data.appends.run(async () => data.append(parts, expected)),
    appendAfter: (after, make) =>
      data.appends.run(async () => {
        const { log } = data.read(after, []);
        const expected = data.lastNumber + 1;
        const before = reads;
        const parts = await make(log);
        // As in a browser: a read in `make` ends the transaction.
        if (!parts || reads !== before) return undefined;
        return data.append(parts, expected) ? expected : undefined;
      }),
    putBlocks: async (blocks) => data.putBlocks(blocks),
    trim: async (...trim) => data.trim(...trim),
    close: async () => undefined,
  };
}
