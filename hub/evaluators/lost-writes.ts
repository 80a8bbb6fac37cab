/** Writes of devices that ended the thread which executed them, by their hash, and how often. In memory: a restart gives new tries. */
import { remember } from '../../src/values/remember.ts';

const TRIES = 2;
const REMEMBERED_MAX = 1000;

export class LostWrites {
  private readonly counts = new Map<string, number>();

  note(hash: string): void {
    remember(this.counts, hash, (this.counts.get(hash) ?? 0) + 1, REMEMBERED_MAX);
  }

  /** They have had all their tries. */
  get fatal(): readonly string[] {
    return [...this.counts].filter(([, count]) => count >= TRIES).map(([hash]) => hash);
  }
}
