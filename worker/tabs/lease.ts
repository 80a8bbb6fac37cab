/**
 * The lease: proof that no other tab has the database open. While this tab holds it, no other tab commits, so cached data stays valid
 * without reading the store.
 *
 * - Each open tab holds a lock of its own. The list of these locks shows which tabs are open.
 * - A tab has the lease when it holds the lock `burrow:alone:…` exclusively and then finds no other tab in the list.
 * - A tab that opens takes that lock (shared) before it may commit: the tab with the lease is notified and releases it. If that tab does
 *   not respond (frozen), the lock is stolen, and the new tab waits until the old lease has expired.
 * - A lease lasts for a moment after the last proof that the lock is held, counted from before the proof was requested, on the monotonic
 *   clock. A tab that was frozen finds its lease expired when it resumes.
 */
import { holdUntil } from './web-locks.ts';

export interface LeaseOptions {
  readonly name: string;
  readonly id: string;
  readonly locks: LockManager;
  /** Monotonic time in ms. */
  readonly now: () => number;
  /** Notifies the other tabs that this one is opening. */
  readonly announce: () => void;
  readonly wait: (ms: number) => Promise<void>;
}

/** How long a proof is valid, in ms. */
export const LEASE_MS = 1000;
/** Age of the proof, in ms, at which a new one is requested. */
const RENEW_MS = 400;
const RETRY_MS = 2000;
/** How long, in ms, a tab may take to release the lock before the lock is stolen. */
export const ANSWER_MS = 1000;
/** Added to the remaining time of another tab's lease: monotonic clocks of two processes run equally fast, but timers are not exact. */
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
  /** Number of announcements by other tabs. */
  private announced = 0;
  /** Undefined while this tab has not joined, or has closed. */
  private left: AbortController | undefined = undefined;

  constructor(options: LeaseOptions) {
    this.options = options;
    this.lockName = `burrow:alone:${options.name}`;
    this.tabPrefix = `burrow:tab:${options.name}:`;
  }

  /** Await this before the first commit: once it resolves, no other tab holds a lease. */
  async join(): Promise<void> {
    this.left = new AbortController();
    await holdUntil(this.left.signal, this.tabPrefix + this.options.id, this.options.locks);
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

  /** A number that does not change as long as no other tab can commit. Undefined when another tab can. */
  term(): number | undefined {
    return this.isHeld() ? this.terms : undefined;
  }

  /** Releases the lease, for example because another tab is opening the database. */
  giveUp(): void {
    const { state } = this;
    this.announced++;
    this.state = { kind: 'shared', triedAt: this.options.now() };
    // Last, so that the tab that gets the lock finds this one without a lease.
    if (state.kind === 'exclusive') state.release();
  }

  /** Called when another tab has closed: this one may now be the only one. */
  onLeft(): void {
    void this.tryAcquire();
  }

  close(): void {
    this.giveUp();
    this.left?.abort();
    this.left = undefined;
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
    // Rejected when another opening tab has stolen the lock in turn. The old lease must be waited out in that case too.
    await locks.request(this.lockName, { steal: true }, waitOut).catch(waitOut);
  }

  private async tryAcquire(): Promise<void> {
    if (this.state.kind === 'exclusive' || this.isBusy || !this.left) return;
    this.isBusy = true;
    this.state.triedAt = this.options.now();
    try {
      await this.acquire();
    } finally {
      this.isBusy = false;
    }
  }

  /** Resolves when it is known whether this tab has the lease. If it has, the lock stays held. */
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
          // A tab that announced itself in the meantime may be missing from the list, and it announces itself only once.
          if (!isOwner || others > 0 || announced !== this.announced || !this.left) return;
          const held = new Promise<void>((release) => {
            this.terms += 1;
            this.state = { kind: 'exclusive', provedAt: requestedAt, release };
          });
          settled();
          await held;
        })
        // Rejected when another tab stole the lock because this one did not respond in time.
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
