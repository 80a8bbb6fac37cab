/**
 * Deletes blocks that no manifest refers to. They come from flushes and merges that were interrupted before their flip,
 * and from interrupted trims.
 */
import {
  claimOf,
  idsOf,
  IDS_PER_CLAIM,
  tablesOf,
  type IdRange,
  type Manifest,
} from '../manifest.ts';
import type { MaintenanceContext } from './flush.ts';

/**
 * After its flip, writers that claimed ids before it can no longer flip to their blocks. Returns false if another sweep
 * was first.
 */
export async function sweep({ tree, flips }: MaintenanceContext): Promise<boolean> {
  const firstId = await flips.claim();
  const claim = claimOf({ first: firstId });
  let live: readonly IdRange[] = [];
  const hasFlipped = await flips.flip(claim, (manifest) => {
    live = [manifest, ...tree.pinned].flatMap(idsIn);
    return { ...manifest, swept: claim - 1 };
  });
  if (!hasFlipped) return false;
  const blocks = gapsBetween(live, firstId);
  await tree.medium.trim(tree.version.manifest.flushed, blocks);
  return true;
}

const idsIn = (manifest: Manifest): readonly IdRange[] => [
  ...tablesOf(manifest).map(idsOf),
  ...manifest.retired,
];

/** The id ranges below `end` that are in none of the given ranges. */
function gapsBetween(ranges: readonly IdRange[], end: number): IdRange[] {
  const gaps: IdRange[] = [];
  let at = IDS_PER_CLAIM;
  for (const { first, last } of ranges.toSorted((a, b) => a.first - b.first)) {
    // Another tab may have added tables with ids from `end` on in the meantime.
    const to = Math.min(first, end);
    if (to > at) gaps.push({ first: at, last: to - 1 });
    at = Math.max(at, last + 1);
  }
  if (end > at) gaps.push({ first: at, last: end - 1 });
  return gaps;
}
