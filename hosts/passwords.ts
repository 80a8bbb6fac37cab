/** Password hashing and verification over bcrypt, for any way in which a host runs it. */
import { truncates } from 'bcryptjs';
import type { EngineOptions } from '../src/engine/host.ts';
import { dummyHash } from './dummy-hash.ts';

export type PasswordJob =
  | { readonly task: 'hash'; readonly password: string; readonly cost: number }
  | { readonly task: 'verify'; readonly password: string; readonly hash: string };

/** The hash, or whether the password is correct. */
export type PasswordAnswer = string | boolean;

/**
 * The password functions that the engine needs.
 * @param hashCost cost of new hashes
 * @param run runs a job; `address` is that of the caller who tries a password, if known
 */
export const passwordChecks = (
  hashCost: number,
  run: (job: PasswordJob, address?: string) => Promise<PasswordAnswer>,
): EngineOptions['passwords'] => ({
  hash: async (password, cost) => String(await run({ task: 'hash', password, cost })),
  verify: async (password, known, address) => {
    // bcrypt reads only 72 bytes and stops at a NUL, so a password that is longer or contains a NUL is never correct. It is
    // verified all the same, so that the answer takes as long as for any other password.
    const isComparable = !truncates(password) && !password.includes('\0');
    const hash = known ?? dummyHash(hashCost);
    const isEqual = await run({ task: 'verify', password, hash }, address);
    return isEqual === true && isComparable && known !== undefined;
  },
});
