/**
 * Leader election: one tab syncs for all. The leader holds a Web Lock and sends a heartbeat every few seconds. A tab that misses several
 * heartbeats steals the lock. A frozen leader that resumes is stopped by the fence in the store.
 */

export interface LeadershipOptions {
  readonly name: string;
  readonly locks: LockManager | undefined;
  readonly lead: () => void;
  readonly follow: () => void;
  /** Sends the heartbeat to the other tabs. */
  readonly beat: () => void;
}

const BEAT_MS = 2000;
const SILENCE_MS = 7000;

export class Leadership {
  leads = false;
  private readonly options: LeadershipOptions;
  private readonly beats: ReturnType<typeof setInterval>;
  private waiting: AbortController | undefined = undefined;
  private release: (() => void) | undefined = undefined;
  /** When the last heartbeat of the leader was received. */
  private seenAt = performance.now();
  private lastBeat = performance.now();
  private isClosed = false;

  constructor(options: LeadershipOptions) {
    this.options = options;
    this.beats = setInterval(() => this.tick(), BEAT_MS);
    this.request({});
  }

  /** Called when a heartbeat of the leader was received. */
  onBeat(): void {
    this.seenAt = performance.now();
  }

  /** Called when another tab has become the leader. */
  giveUp(): void {
    this.release?.();
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.beats);
    this.waiting?.abort();
    this.release?.();
  }

  private tick(): void {
    const now = performance.now();
    // A tab that was suspended has missed heartbeats, so it waits a whole period before it steals the lock.
    if (now - this.lastBeat > 2 * BEAT_MS) this.seenAt = now;
    this.lastBeat = now;
    if (this.leads) this.options.beat();
    else if (now - this.seenAt > SILENCE_MS) {
      this.seenAt = now;
      this.request({ steal: true });
    }
  }

  /** At most one request of this tab waits for the lock. Stealing the lock ends that wait. */
  private request(how: { readonly steal?: boolean }): void {
    const { locks, name } = this.options;
    if (!locks) {
      void this.lead();
      return;
    }
    this.waiting?.abort();
    const waiting = new AbortController();
    this.waiting = waiting;
    // `steal` and `signal` cannot be combined.
    const options = how.steal ? how : { signal: waiting.signal };
    void locks
      .request(`burrow:sync:${name}`, options, () => this.lead())
      // Rejected when a tab that missed this tab's heartbeats stole the lock, or when the wait was aborted.
      .catch(() => {
        if (this.waiting === waiting) this.stop();
      })
      .then(() => {
        if (!this.isClosed && this.waiting === waiting) this.request({});
      });
  }

  /** Resolves when the lock is to be released. */
  private lead(): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    this.leads = true;
    this.options.beat();
    this.options.lead();
    return new Promise((resolve) => {
      this.release = () => {
        this.stop();
        resolve();
      };
    });
  }

  private stop(): void {
    this.release = undefined;
    if (!this.leads) return;
    this.leads = false;
    this.seenAt = performance.now();
    this.options.follow();
  }
}
