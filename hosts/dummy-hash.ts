/** A hash for unknown users: comparing with it takes as long as with a real one, and no password matches it. */
export const dummyHash = (cost: number): string =>
  `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`;
