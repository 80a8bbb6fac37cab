/** A part of the log as stored in the object store. */
import type { LogPart } from '../../../src/packed/medium.ts';

export interface StoredPart {
  /** Assigned by the key generator when the part was added. */
  readonly n: number;
  readonly v: Uint8Array;
  /** The commit that the part belongs to. */
  readonly c: string;
  /** The number under which the part is valid, if it was committed before its number was known. Undefined: valid under any number. */
  readonly e?: number;
}

/** What another script of the origin has added has no commit, and does not count. */
export const doesCount = ({ n, e = n, c }: Omit<StoredPart, 'v'>): boolean =>
  e === n && typeof c === 'string';

export const logPartOf = (part: StoredPart): LogPart => ({
  number: part.n,
  bytes: doesCount(part) ? part.v : undefined,
});
