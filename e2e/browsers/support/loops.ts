/**
 * How often a test repeats something that only fails by chance: a few times in CI, and `BURROW_BROWSER_LOOPS` times in a long run by hand,
 * which also needs a higher `--testTimeout`.
 */
export const loops = (usual: number): number =>
  Number(process.env['BURROW_BROWSER_LOOPS'] ?? usual);
