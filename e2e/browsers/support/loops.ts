/** How often a test does what may go wrong by chance: `BURROW_BROWSER_LOOPS`, for a long run by hand; few in CI. */
export const loops = (usual: number): number =>
  Number(process.env['BURROW_BROWSER_LOOPS'] ?? usual);
