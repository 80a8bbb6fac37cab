/** Password verification over bcrypt, wherever a host runs it. */
import { truncates } from 'bcryptjs';
import type { EngineOptions } from '../src/engine/host.ts';
import { dummyHash } from './dummy-hash.ts';

export type PasswordJob =
  | { readonly task: 'hash'; readonly password: string; readonly cost: number }
  | { readonly task: 'verify'; readonly password: string; readonly hash: string };

/** The hash, or whether the password is right. */
export type PasswordAnswer = string | boolean;

/** What the engine asks of a host. @param hashCost of new hashes @param run `address`: of who tries a password, if it is known */
export const passwordChecks = (
  hashCost: number,
  run: (job: PasswordJob, address?: string) => Promise<PasswordAnswer>,
): EngineOptions['passwords'] => ({
  hash: async (password, cost) => String(await run({ task: 'hash', password, cost })),
  verify: async (password, known, address) => {
    // bcrypt reads 72 bytes and stops at a NUL: a password that differs after them is wrong all the same, and takes as long.
    const isComparable = !truncates(password) && !password.includes('\0');
    const hash = known ?? dummyHash(hashCost);
    const isEqual = await run({ task: 'verify', password, hash }, address);
    return isEqual === true && isComparable && known !== undefined;
  },
});
