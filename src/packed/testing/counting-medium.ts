/** Test kit: a medium that counts its calls and bytes. */
import type { Medium } from '../medium.ts';

export interface MediumCounts {
  /** Number of read transactions. */
  reads: number;
  /** Number of ranges of blocks that were read. Each is a request. */
  ranges: number;
  /** Bytes of the largest result for one range. */
  rangeBytesMax: number;
  /** Number of blocks returned. */
  blocks: number;
  appended: number;
  putBytes: number;
}

export class CountingMedium implements Medium {
  counts: MediumCounts = NOTHING();
  private readonly medium: Medium;

  constructor(medium: Medium) {
    this.medium = medium;
  }

  /** Returns the counts since the last call of `take`. */
  take(): MediumCounts {
    const { counts } = this;
    this.counts = NOTHING();
    return counts;
  }

  async read(...[after, ranges]: Parameters<Medium['read']>): ReturnType<Medium['read']> {
    const found = await this.medium.read(after, ranges);
    this.counts.reads += 1;
    this.counts.ranges += ranges.length;
    this.counts.blocks += found.blocks.flat().length;
    for (const blocks of found.blocks) {
      const bytes = blocks.reduce((sum, block) => sum + block.bytes.length, 0);
      this.counts.rangeBytesMax = Math.max(this.counts.rangeBytesMax, bytes);
    }
    return found;
  }

  append(...[parts, ...rest]: Parameters<Medium['append']>): Promise<boolean> {
    this.counts.appended += 1;
    this.counts.putBytes += parts.reduce((sum, { length }) => sum + length, 0);
    return this.medium.append(parts, ...rest);
  }

  appendAfter(
    ...[after, make, ...rest]: Parameters<Medium['appendAfter']>
  ): Promise<number | undefined> {
    this.counts.reads += 1;
    const counted = async (log: Parameters<typeof make>[0]) => {
      const parts = await make(log);
      this.counts.appended += 1;
      this.counts.putBytes += parts?.reduce((sum, { length }) => sum + length, 0) ?? 0;
      return parts;
    };
    return this.medium.appendAfter(after, counted, ...rest);
  }

  putBlocks(...[blocks]: Parameters<Medium['putBlocks']>): Promise<void> {
    this.counts.putBytes += blocks.reduce((sum, { bytes }) => sum + bytes.length, 0);
    return this.medium.putBlocks(blocks);
  }

  trim(...trim: Parameters<Medium['trim']>): Promise<void> {
    return this.medium.trim(...trim);
  }

  close(): Promise<void> {
    return this.medium.close();
  }
}

const NOTHING = (): MediumCounts => ({
  reads: 0,
  ranges: 0,
  rangeBytesMax: 0,
  blocks: 0,
  appended: 0,
  putBytes: 0,
});
