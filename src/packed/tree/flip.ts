/** Changes of the manifest (flips) and claims of ids for new blocks. Both are records of the log. */
import { assert } from '../../errors.ts';
import type { LogRecord } from '../codec/log-record.ts';
import {
  claimOf,
  idsOf,
  IDS_PER_CLAIM,
  tablesOf,
  type IdRange,
  type Manifest,
} from '../manifest.ts';
import type { SerialQueue } from '../../store/serial-queue.ts';
import type { Tree } from './tree.ts';

/** Makes the changed members of the current manifest. Returns undefined if the manifest no longer allows the change. */
export type ManifestChange = (
  manifest: Manifest,
) => Pick<Manifest, 'flushed' | 'swept' | 'families'> | undefined;

type MakeRecord = (manifest: Manifest) => LogRecord | undefined;

export class Flips {
  private readonly tree: Tree;
  private readonly queue: SerialQueue;

  /** @param queue of all appends of this tab, so that they do not conflict with each other */
  constructor(tree: Tree, queue: SerialQueue) {
    this.tree = tree;
    this.queue = queue;
  }

  /** Claims `IDS_PER_CLAIM` ids that no other writer will ever use. Returns the first. */
  async claim(): Promise<number> {
    const claim = await this.append(() => ({ kind: 'claim' }));
    assert(claim, () => 'a claim has a number');
    return claim * IDS_PER_CLAIM;
  }

  /**
   * Writes blocks and flips to a manifest that refers to them.
   * @param write puts blocks, with ids from the given one on
   * @returns as `flip`
   */
  async bringIn<T>(
    write: (firstId: number) => Promise<T>,
    change: (manifest: Manifest, written: T) => ReturnType<ManifestChange>,
  ): Promise<boolean> {
    const first = await this.claim();
    const written = await write(first).catch(async (reason: unknown) => {
      // The storage is probably full, so the blocks are deleted directly: a sweep would have to append to the log.
      const blocks = [{ first, last: first + IDS_PER_CLAIM - 1 }];
      await this.tree.medium.trim(0, blocks).catch(() => undefined);
      throw reason;
    });
    return this.flip(claimOf({ first }), (manifest) => change(manifest, written));
  }

  /**
   * Replaces the newest manifest. Then deletes the blocks that the replaced manifest had retired, and the log records
   * that are in tables.
   * @param claim the claim of the blocks that the change adds
   * @returns false if the change is no longer allowed; then nothing was done
   */
  async flip(claim: number, change: ManifestChange): Promise<boolean> {
    let before: Manifest | undefined;
    let carried: readonly IdRange[] = [];
    const number = await this.append((manifest) => {
      const changed = claim > manifest.swept ? change(manifest) : undefined;
      if (!changed) return undefined;
      before = manifest;
      carried = this.pinnedOf(manifest.retired);
      const retired = [...carried, ...leftOut(manifest, { ...changed, retired: [] })];
      return { kind: 'flip', manifest: { ...changed, retired } };
    });
    if (number === undefined || !before) return false;
    await this.trim(before, carried);
    return true;
  }

  /**
   * Appends the record that `make` returns for the newest manifest. Returns its number, or undefined if there is no
   * record.
   */
  private append(make: MakeRecord): Promise<number | undefined> {
    const { tree } = this;
    const makeForNewest = (): LogRecord | undefined => make(tree.version.manifest);
    return this.queue.run(async () => {
      const record = makeForNewest();
      if (!record) return undefined;
      let number = await tree.append(record, 'relaxed');
      while (number === undefined && makeForNewest())
        number = await tree.appendNext(() => Promise.resolve(makeForNewest()), 'relaxed');
      return number;
    });
  }

  private async trim({ retired }: Manifest, carried: readonly IdRange[]): Promise<void> {
    const { medium, version } = this.tree;
    const blocks = retired.filter((range) => !carried.includes(range));
    await medium.trim(version.manifest.flushed, blocks);
  }

  /** The retired ranges that a snapshot of this tab still reads. */
  private pinnedOf(retired: readonly IdRange[]): readonly IdRange[] {
    const pinned = new Set(
      this.tree.pinned.flatMap((each) => tablesOf(each).map(({ first }) => first)),
    );
    return retired.filter(({ first }) => pinned.has(first));
  }
}

function leftOut(before: Manifest, after: Manifest): IdRange[] {
  const kept = new Set(tablesOf(after).map(({ first }) => first));
  return tablesOf(before)
    .filter(({ first }) => !kept.has(first))
    .map(idsOf);
}
