/**
 * Leader election: one tab syncs for all. The leader holds a Web Lock. The other tabs check every few seconds whether it is frozen: it
 * answers with a heartbeat, so a tab that is alone sends nothing and sets no timer. A tab whose checks stay unanswered steals the lock. A
 * frozen leader that resumes is stopped by the fence in the store.
 */

export interface LeadershipOptions {
  readonly name: string;
  readonly locks: LockManager | undefined;
  readonly lead: () => void;
  readonly follow: () => void;
  /** Asks the leader for a heartbeat. */
  readonly check: () => void;
  /** Sends a heartbeat to the other tabs. */
  readonly beat: () => void;
}

const TICK_MS = 3000;
/** A tab that has ticked so often without a heartbeat steals the lock. Ticks are counted, because clocks jump while a tab is frozen. */
const SILENT_TICKS = 4;

export class Leadership {
  leads = false;
  private readonly options: LeadershipOptions;
  /** Runs while this tab does not lead. */
  private ticking: ReturnType<typeof setInterval> | undefined = undefined;
  private waiting: AbortController | undefined = undefined;
  private release: (() => void) | undefined = undefined;
  /** Ticks since the last heartbeat of the leader. */
  private silentTicks = 0;
  private isClosed = false;

  constructor(options: LeadershipOptions) {
    this.options = options;
    this.follow();
    this.request({});
  }

  /** Called when a heartbeat of the leader was received. */
  onBeat(): void {
    this.silentTicks = 0;
  }

  /** Called when another tab has asked for a heartbeat. */
  onCheck(): void {
    if (this.leads) this.options.beat();
  }

  /** Called when another tab has become the leader. */
  giveUp(): void {
    this.release?.();
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.ticking);
    this.waiting?.abort();
    this.release?.();
  }

  private follow(): void {
    this.silentTicks = 0;
    if (!this.isClosed) this.ticking = setInterval(() => this.tick(), TICK_MS);
  }

  /** All tabs receive each heartbeat, so as a rule only one of them checks: the one whose second tick without a heartbeat comes first. */
  private tick(): void {
    this.silentTicks += 1;
    if (this.silentTicks === SILENT_TICKS) {
      this.silentTicks = 0;
      this.request({ steal: true });
    } else if (this.silentTicks > 1) this.options.check();
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
    clearInterval(this.ticking);
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
    this.follow();
    this.options.follow();
  }
}
