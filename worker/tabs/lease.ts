/**
 * The lease: proof that no other tab has the database open. While it is held, nobody else commits, so what is cached stays true
 * without asking the store.
 *
 * - Each open tab holds a lock of its own; the list of these locks shows which tabs are open.
 * - A tab has the lease when it holds the lock `burrow:alone:…` exclusively and then finds no other tab in the list.
 * - A tab that opens takes that lock (shared) before it may commit: the tab with the lease is notified and releases it. From a tab
 *   that does not answer (frozen) the lock is stolen, and its last lease is waited out.
 * - A lease lasts a moment past the last proof that the lock is held. It is counted from before the proof was requested, on the
 *   monotonic clock; a tab that was frozen finds its lease expired when it thaws.
 */

export interface LeaseOptions {
  readonly name: string;
  readonly id: string;
  readonly locks: LockManager;
  /** Monotonic, ms. */
  readonly now: () => number;
  /** Notifies the other tabs that this one is opening. */
  readonly announce: () => void;
  readonly wait: (ms: number) => Promise<void>;
}

/** How long a proof lasts. */
export const LEASE_MS = 1000;
/** Age of the proof at which a new one is requested. */
const RENEW_MS = 400;
const RETRY_MS = 2000;
/** How long a tab may take to release the lock before it is stolen. */
export const ANSWER_MS = 1000;
/** Added to the other tab's lease: monotonic clocks of two processes tick alike, timers are not exact. */
const MARGIN_MS = 200;

type State =
  | { readonly kind: 'shared'; triedAt: number }
  | { readonly kind: 'exclusive'; provedAt: number; readonly release: () => void };

export class Lease {
  private readonly options: LeaseOptions;
  private readonly lockName: string;
  private readonly tabPrefix: string;
  private state: State = { kind: 'shared', triedAt: -Infinity };
  private isBusy = false;
  /** How often this tab has acquired the lease. */
  private terms = 0;
  /** Number of announcements of other tabs. */
  private announced = 0;
  private leave: (() => void) | undefined = undefined;

  constructor(options: LeaseOptions) {
    this.options = options;
    this.lockName = `burrow:alone:${options.name}`;
    this.tabPrefix = `burrow:tab:${options.name}:`;
  }

  /** To be awaited before the first commit: afterwards no other tab holds a lease. */
  async join(): Promise<void> {
    await new Promise<void>((joined, failed) => {
      const held = new Promise<void>((resolve) => {
        this.leave = resolve;
      });
      this.options.locks
        .request(this.tabPrefix + this.options.id, () => {
          joined();
          return held;
        })
        .catch(failed);
    });
    await this.waitForRelease();
    await this.tryAcquire();
  }

  /** Whether no other tab can have committed until now. Cheap: requests the next proof in the background. */
  isHeld(): boolean {
    const now = this.options.now();
    if (this.state.kind === 'shared') {
      if (now - this.state.triedAt > RETRY_MS) void this.tryAcquire();
      return false;
    }
    const age = now - this.state.provedAt;
    if (age > RENEW_MS) void this.prove(this.state);
    return age < LEASE_MS;
  }

  /** A number that stays the same while no other tab can commit; undefined: one can. */
  term(): number | undefined {
    return this.isHeld() ? this.terms : undefined;
  }

  /** Another tab is opening. */
  giveUp(): void {
    const { state } = this;
    this.announced++;
    this.state = { kind: 'shared', triedAt: this.options.now() };
    // Last, so that the tab that gets the lock finds this one without a lease.
    if (state.kind === 'exclusive') state.release();
  }

  /** Another tab has closed: this one may be the only one now. */
  onLeft(): void {
    void this.tryAcquire();
  }

  close(): void {
    this.giveUp();
    this.leave?.();
    this.leave = undefined;
  }

  private async waitForRelease(): Promise<void> {
    const { locks, announce, wait } = this.options;
    const impatience = new AbortController();
    announce();
    const passed = locks
      .request(this.lockName, { mode: 'shared', signal: impatience.signal }, () => true)
      .catch((error: unknown) => {
        if (impatience.signal.aborted) return false;
        throw error;
      });
    const late = wait(ANSWER_MS).then(() => 'late' as const);
    if ((await Promise.race([passed, late])) !== 'late') return;
    impatience.abort();
    if (await passed) return;
    const waitOut = () => wait(LEASE_MS + MARGIN_MS);
    // Rejected when another tab that opens has stolen it in turn. The old lease ends all the same.
    await locks.request(this.lockName, { steal: true }, waitOut).catch(waitOut);
  }

  private async tryAcquire(): Promise<void> {
    if (this.state.kind === 'exclusive' || this.isBusy || !this.leave) return;
    this.isBusy = true;
    this.state.triedAt = this.options.now();
    try {
      await this.acquire();
    } finally {
      this.isBusy = false;
    }
  }

  /** Resolves when it is known whether this tab has the lease; if so, the lock stays held. */
  private acquire(): Promise<void> {
    const { locks } = this.options;
    return new Promise((settled) => {
      const lost = (): void => {
        if (this.state.kind === 'exclusive')
          this.state = { kind: 'shared', triedAt: this.options.now() };
        settled();
      };
      locks
        .request(this.lockName, { ifAvailable: true }, async (lock) => {
          if (!lock) return;
          const requestedAt = this.options.now();
          const { announced } = this;
          const { isOwner, others } = await this.readLocks();
          // A tab that announced itself meanwhile may be missing in the list, and announces itself only once.
          if (!isOwner || others > 0 || announced !== this.announced || !this.leave) return;
          const held = new Promise<void>((release) => {
            this.terms += 1;
            this.state = { kind: 'exclusive', provedAt: requestedAt, release };
          });
          settled();
          await held;
        })
        // Rejected when a tab stole it that was not answered in time.
        .then(lost, lost);
    });
  }

  private async prove(state: State & { kind: 'exclusive' }): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    const requestedAt = this.options.now();
    try {
      const { isOwner } = await this.readLocks();
      if (this.state !== state) return;
      if (isOwner) state.provedAt = requestedAt;
      else this.giveUp();
    } finally {
      this.isBusy = false;
    }
  }

  private async readLocks(): Promise<{ readonly isOwner: boolean; readonly others: number }> {
    const { held = [] } = await this.options.locks.query();
    const own = this.tabPrefix + this.options.id;
    const me = held.find(({ name }) => name === own)?.clientId;
    const lock = held.find(({ name }) => name === this.lockName);
    return {
      isOwner: me !== undefined && lock?.mode === 'exclusive' && lock.clientId === me,
      others: held.filter(({ name }) => name !== own && name?.startsWith(this.tabPrefix)).length,
    };
  }
}
