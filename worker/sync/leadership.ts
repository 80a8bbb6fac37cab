/**
 * One tab keeps the copy in step, for all. It holds a Web Lock and says every few seconds that it is alive; a tab that hears nothing for
 * long takes the lock away. What a frozen one does when it thaws is stopped by the fence in the store.
 */

export interface LeadershipOptions {
  readonly name: string;
  readonly locks: LockManager | undefined;
  readonly lead: () => void;
  readonly follow: () => void;
  /** Tells the other tabs that this one is alive. */
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
  private lastHeard = performance.now();
  private lastBeat = performance.now();
  private isClosed = false;

  constructor(options: LeadershipOptions) {
    this.options = options;
    this.beats = setInterval(() => this.tick(), BEAT_MS);
    this.request({});
  }

  /** The leader was heard. */
  noteBeat(): void {
    this.lastHeard = performance.now();
  }

  /** Another tab has taken over the sync. */
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
    // Whoever has slept has heard nobody.
    if (now - this.lastBeat > 2 * BEAT_MS) this.lastHeard = now;
    this.lastBeat = now;
    if (this.leads) this.options.beat();
    else if (now - this.lastHeard > SILENCE_MS) {
      this.lastHeard = now;
      this.request({ steal: true });
    }
  }

  /** At most one waits; whoever takes the lock away waits no more. */
  private request(how: { readonly steal?: boolean }): void {
    const { locks, name } = this.options;
    if (!locks) {
      void this.lead();
      return;
    }
    this.waiting?.abort();
    const waiting = new AbortController();
    this.waiting = waiting;
    // A lock that is taken away cannot be waited for with a signal.
    const asked = how.steal ? how : { signal: waiting.signal };
    void locks
      .request(`burrow:sync:${name}`, asked, () => this.lead())
      // Taken away by a tab that did not hear from this one; or not waited for any more.
      .catch(() => {
        if (this.waiting === waiting) this.stop();
      })
      .then(() => {
        if (!this.isClosed && this.waiting === waiting) this.request({});
      });
  }

  /** Resolves when the lock is to be given up. */
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
    this.lastHeard = performance.now();
    this.options.follow();
  }
}
