/** A read transaction. It sees the version at its first fetch, unaffected by later commits. */
import {
  requireWithin,
  SPACES,
  type Found,
  type Range,
  type ReadTx,
  type RowAddress,
  type Space,
} from '../../store/port.ts';
import { BlockAccess, BlockMissing } from './block-access.ts';
import { Fetch } from './fetch.ts';
import type { Tree } from './tree.ts';
import type { Version } from './version.ts';

export class SnapshotTx implements ReadTx {
  /** Undefined before the first fetch. */
  version: Version | undefined;
  /** Set when a block of the version no longer exists. The result of the body must then be discarded. */
  missing: BlockMissing | undefined = undefined;
  private readonly tree: Tree;
  private readonly spaces: readonly Space[];

  /** @param version if omitted, the newest version at the time of the first fetch */
  constructor(tree: Tree, spaces: readonly Space[] = SPACES, version?: Version) {
    this.tree = tree;
    this.spaces = spaces;
    this.version = version;
    if (version) tree.pin(version);
  }

  async fetch(
    rows: readonly RowAddress[],
    ranges: readonly Range[],
    bytesMax = Infinity,
  ): Promise<Found> {
    for (const { space } of rows) requireWithin(this.spaces, space);
    for (const { space } of ranges) requireWithin(this.spaces, space);
    const access = new BlockAccess(this.tree.cache);
    const { version } = this;
    const fetch = version
      ? new Fetch(version, rows, ranges, bytesMax)
      : await this.begin(access, rows, ranges, bytesMax);
    for (;;) {
      const found = fetch.run(access);
      if (found) return found;
      await this.load(access);
    }
  }

  /** Must be called when the transaction is no longer needed. */
  release(): void {
    if (this.version) this.tree.unpin(this.version);
  }

  /** Reads the log, and in the same read the blocks that the fetch will probably need. */
  private async begin(
    access: BlockAccess,
    ...request: Required<Parameters<ReadTx['fetch']>>
  ): Promise<Fetch> {
    const { tree } = this;
    const likely = new Fetch(tree.version, ...request);
    if (!tree.isCurrent()) {
      likely.run(access);
      await tree.refresh(access);
    }
    // Two fetches may have started at the same time: the first one to get here sets the version.
    if (!this.version) {
      this.version = tree.version;
      tree.pin(this.version);
    }
    return likely.version === this.version ? likely : new Fetch(this.version, ...request);
  }

  private async load(access: BlockAccess): Promise<void> {
    try {
      await this.tree.load(access);
    } catch (reason) {
      if (reason instanceof BlockMissing) this.missing = reason;
      throw reason;
    }
  }
}
