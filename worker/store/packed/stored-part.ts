/** A part of the log, as it lies in the object store. */
import type { LogPart } from '../../../src/packed/medium.ts';

export interface StoredPart {
  /** Given by the key generator when it was added. */
  readonly n: number;
  readonly v: Uint8Array;
  /** The commit it is a part of. */
  readonly c: string;
  /** The number it counts under: it was committed before its own was known. Absent: whatever it has. */
  readonly e?: number;
}

export const doesCount = ({ n, e = n }: Pick<StoredPart, 'n' | 'e'>): boolean => e === n;

export const logPartOf = (part: Pick<StoredPart, 'n' | 'v' | 'e'>): LogPart => ({
  number: part.n,
  bytes: doesCount(part) ? part.v : undefined,
});
