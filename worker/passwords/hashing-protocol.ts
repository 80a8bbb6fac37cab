/** What crosses to a hashing worker. It answers jobs one by one, in order. */
export const HASHING_NAME = 'burrow-hashing';

export type HashingJob =
  | { readonly task: 'hash'; readonly password: string; readonly cost: number }
  | { readonly task: 'verify'; readonly password: string; readonly hash: string };
export type HashingAnswer = string | boolean;
