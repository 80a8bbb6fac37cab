/** Deletes blocks that no manifest refers to: those of flushes and merges that ended before their flip, and of cuts that did. */
import {
  claimOf,
  idsOf,
  IDS_PER_CLAIM,
  tablesOf,
  type IdRange,
  type Manifest,
} from '../manifest.ts';
import type { MaintenanceContext } from './flush.ts';

/** From its flip on, whoever claimed ids before it cannot bring them in. Returns false when it was overtaken. */
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
  await tree.medium.trim({ logThrough: tree.version.manifest.flushed, blocks });
  return true;
}

const idsIn = (manifest: Manifest): readonly IdRange[] => [
  ...tablesOf(manifest).map(idsOf),
  ...manifest.retired,
];

/** What lies below `end` in none of the ranges. */
function gapsBetween(ranges: readonly IdRange[], end: number): IdRange[] {
  const gaps: IdRange[] = [];
  let at = IDS_PER_CLAIM;
  for (const { first, last } of ranges.toSorted((a, b) => a.first - b.first)) {
    // Other tabs may have brought in tables from `end` on meanwhile.
    const to = Math.min(first, end);
    if (to > at) gaps.push({ first: at, last: to - 1 });
    at = Math.max(at, last + 1);
  }
  if (end > at) gaps.push({ first: at, last: end - 1 });
  return gaps;
}
