/** What crosses to a hashing worker. It answers jobs one by one, in order. */
export const HASHING_NAME = 'burrow-hashing';

export type HashingJob =
  | { readonly task: 'hash'; readonly password: string; readonly cost: number }
  | { readonly task: 'verify'; readonly password: string; readonly hash: string };
export type HashingAnswer = string | boolean;

/** The hash of no password: comparing with it costs what comparing with a real one does. */
export const dummyHash = (cost: number): string =>
  `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`;
