/**
 * Counts how often a write of a device has ended the thread that executed it, by the hash of the write. Kept in memory only:
 * after a restart, each write may be tried again.
 */
import { remember } from '../../src/values/remember.ts';

const TRIES = 2;
const REMEMBERED_MAX = 1000;

export class LostWrites {
  private readonly counts = new Map<string, number>();

  note(hash: string): void {
    remember(this.counts, hash, (this.counts.get(hash) ?? 0) + 1, REMEMBERED_MAX);
  }

  /** Hashes of writes that have used up their tries. */
  get fatal(): readonly string[] {
    return [...this.counts].filter(([, count]) => count >= TRIES).map(([hash]) => hash);
  }
}
