/**
 * Whether this tab is the only one that has the database open. While it is, nobody else commits, so what it knows stays true
 * without asking the store.
 *
 * - A tab holds a lock of its own as long as it is open; locks of that kind say who is there.
 * - Alone is who holds `alone` exclusively and, after getting it, saw no other tab.
 * - A tab that opens passes through `alone` (shared) before it may commit: the one that was alone hears of it and gives up. One
 *   that does not answer (a frozen tab) has `alone` taken away, and its last proof is waited out.
 * - A lease lasts a moment past the last proof that `alone` is held. Time is counted from before the proof was asked for, on a
 *   clock that no user can turn; a tab that was frozen finds its lease expired when it thaws.
 */

export interface LeaseOptions {
  readonly name: string;
  readonly id: string;
  readonly locks: LockManager;
  /** Monotonic, ms. */
  readonly now: () => number;
  /** Tells the other tabs that this one is opening. */
  readonly announce: () => void;
  readonly wait: (ms: number) => Promise<void>;
}

/** How long a proof lasts. */
export const LEASE_MS = 1000;
/** Past this age of the proof a new one is asked for. */
const RENEW_MS = 400;
const RETRY_MS = 2000;
/** How long a tab that is alone may take to give up before that is taken from it. */
export const ANSWER_MS = 1000;
/** Past the end of the other's lease: clocks of two processes tick alike, timers are not exact. */
const MARGIN_MS = 200;

type State =
  | { readonly kind: 'together'; triedAt: number }
  | { readonly kind: 'alone'; provedAt: number; readonly release: () => void };

export class Lease {
  private readonly options: LeaseOptions;
  private readonly aloneName: string;
  private readonly tabPrefix: string;
  private state: State = { kind: 'together', triedAt: -Infinity };
  private isBusy = false;
  /** Times another tab has announced itself. */
  private announced = 0;
  private leave: (() => void) | undefined = undefined;

  constructor(options: LeaseOptions) {
    this.options = options;
    this.aloneName = `burrow:alone:${options.name}`;
    this.tabPrefix = `burrow:tab:${options.name}:`;
  }

  /** To be awaited before the first commit: afterwards no other tab believes itself alone. */
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
    await this.passGate();
    await this.tryAlone();
  }

  /** Whether nobody else can have committed until now. Cheap; asks for what it will need next by itself. */
  isHeld(): boolean {
    const now = this.options.now();
    if (this.state.kind === 'together') {
      if (now - this.state.triedAt > RETRY_MS) void this.tryAlone();
      return false;
    }
    const age = now - this.state.provedAt;
    if (age > RENEW_MS) void this.prove(this.state);
    return age < LEASE_MS;
  }

  /** Another tab is opening. */
  giveUp(): void {
    const { state } = this;
    this.announced++;
    this.state = { kind: 'together', triedAt: this.options.now() };
    // Last, so that who gets the lock finds us without a lease.
    if (state.kind === 'alone') state.release();
  }

  /** Another tab has gone: this one may be alone now. */
  noteLeft(): void {
    void this.tryAlone();
  }

  close(): void {
    this.giveUp();
    this.leave?.();
    this.leave = undefined;
  }

  private async passGate(): Promise<void> {
    const { locks, announce, wait } = this.options;
    const impatience = new AbortController();
    announce();
    const passed = locks
      .request(this.aloneName, { mode: 'shared', signal: impatience.signal }, () => true)
      .catch((error: unknown) => {
        if (impatience.signal.aborted) return false;
        throw error;
      });
    const late = wait(ANSWER_MS).then(() => 'late' as const);
    if ((await Promise.race([passed, late])) !== 'late') return;
    impatience.abort();
    if (await passed) return;
    const waitOut = () => wait(LEASE_MS + MARGIN_MS);
    // Rejected: another tab that opens has taken it in turn. The old lease ends all the same.
    await locks.request(this.aloneName, { steal: true }, waitOut).catch(waitOut);
  }

  private async tryAlone(): Promise<void> {
    if (this.state.kind === 'alone' || this.isBusy || !this.leave) return;
    this.isBusy = true;
    this.state.triedAt = this.options.now();
    try {
      await this.takeAlone();
    } finally {
      this.isBusy = false;
    }
  }

  /** Resolves when it is settled whether this tab is alone; the lock is held on if it is. */
  private takeAlone(): Promise<void> {
    const { locks } = this.options;
    return new Promise((settled) => {
      const lost = (): void => {
        if (this.state.kind === 'alone')
          this.state = { kind: 'together', triedAt: this.options.now() };
        settled();
      };
      locks
        .request(this.aloneName, { ifAvailable: true }, async (lock) => {
          if (!lock) return;
          const askedAt = this.options.now();
          const { announced } = this;
          const { isOwner, others } = await this.look();
          // Who announced itself amid the look may have come after it, and does not say so twice.
          if (!isOwner || others > 0 || announced !== this.announced || !this.leave) return;
          const held = new Promise<void>((release) => {
            this.state = { kind: 'alone', provedAt: askedAt, release };
          });
          settled();
          await held;
        })
        // Rejected: taken away by a tab that we did not answer in time.
        .then(lost, lost);
    });
  }

  private async prove(state: State & { kind: 'alone' }): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    const askedAt = this.options.now();
    try {
      const { isOwner } = await this.look();
      if (this.state !== state) return;
      if (isOwner) state.provedAt = askedAt;
      else this.giveUp();
    } finally {
      this.isBusy = false;
    }
  }

  private async look(): Promise<{ readonly isOwner: boolean; readonly others: number }> {
    const { held = [] } = await this.options.locks.query();
    const own = this.tabPrefix + this.options.id;
    const me = held.find(({ name }) => name === own)?.clientId;
    const alone = held.find(({ name }) => name === this.aloneName);
    return {
      isOwner: me !== undefined && alone?.mode === 'exclusive' && alone.clientId === me,
      others: held.filter(({ name }) => name !== own && name?.startsWith(this.tabPrefix)).length,
    };
  }
}
