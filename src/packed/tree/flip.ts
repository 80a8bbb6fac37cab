/** Changes of the manifest, and ids for new blocks. Both are records of the log. */
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

/** What a flip changes of the manifest that it finds; undefined: that does not allow it any more. */
export type ManifestChange = (
  manifest: Manifest,
) => Pick<Manifest, 'flushed' | 'swept' | 'families'> | undefined;

type MakeRecord = (manifest: Manifest) => LogRecord | undefined;

export class Flips {
  private readonly tree: Tree;
  private readonly queue: SerialQueue;

  /** @param queue of all that is appended by this tab: it need not be its own rival */
  constructor(tree: Tree, queue: SerialQueue) {
    this.tree = tree;
    this.queue = queue;
  }

  /** The first of the ids that nobody else will ever use. */
  async claim(): Promise<number> {
    const claim = await this.append(() => ({ kind: 'claim' }));
    assert(claim, () => 'a claim has a number');
    return claim * IDS_PER_CLAIM;
  }

  /**
   * Flips to a manifest with what is written.
   * @param write puts blocks whose ids begin with the one it is given
   * @returns as `flip`
   */
  async bringIn<T>(
    write: (firstId: number) => Promise<T>,
    change: (manifest: Manifest, written: T) => ReturnType<ManifestChange>,
  ): Promise<boolean> {
    const first = await this.claim();
    const written = await write(first).catch(async (reason: unknown) => {
      // Most likely there is no room: a sweep, which appends, would have none either.
      const blocks = [{ first, last: first + IDS_PER_CLAIM - 1 }];
      await this.tree.medium.trim({ logThrough: 0, blocks }).catch(() => undefined);
      throw reason;
    });
    return this.flip(claimOf({ first }), (manifest) => change(manifest, written));
  }

  /**
   * Puts another manifest in the place of the newest one. Then deletes what that one had retired, and the log that is in tables.
   * @param claim whose blocks the change brings in
   * @returns false: it is not allowed any more, and nothing was done
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

  /** Appends what is made for the newest manifest. Returns its number; undefined: nothing was made. */
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
    await medium.trim({ logThrough: version.manifest.flushed, blocks });
  }

  /** Those that somebody in this tab still reads. */
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
