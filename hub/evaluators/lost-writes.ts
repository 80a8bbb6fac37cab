/** Writes of devices that ended the thread which executed them, by their hash, and how often. In memory: a restart gives new tries. */
const TRIES = 2;
const REMEMBERED_MAX = 1000;

export class LostWrites {
  private readonly counts = new Map<string, number>();

  note(hash: string): void {
    const count = (this.counts.get(hash) ?? 0) + 1;
    this.counts.delete(hash);
    this.counts.set(hash, count);
    const [oldest] = this.counts.size > REMEMBERED_MAX ? this.counts.keys() : [];
    if (oldest !== undefined) this.counts.delete(oldest);
  }

  /** They have had all their tries. */
  get fatal(): readonly string[] {
    return [...this.counts].filter(([, count]) => count >= TRIES).map(([hash]) => hash);
  }
}
