/**
 * How often a test does what goes wrong by chance: few times in CI; as often as `BURROW_BROWSER_LOOPS` says in a long run by hand, which
 * wants `--testTimeout` too.
 */
export const loops = (usual: number): number =>
  Number(process.env['BURROW_BROWSER_LOOPS'] ?? usual);
