/** The hash of no password: comparing with it costs what comparing with a real one does. */
export const dummyHash = (cost: number): string =>
  `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`;
