/**
 * Whether this tab is the only one that has the database open. While it is, nobody else commits, so what it knows stays true
 * without asking the store.
 *
 * - Each open tab holds a lock of its own; the list of these locks shows which tabs are open.
 * - A tab is alone when it holds the lock `alone` exclusively and then finds no other tab in the list.
 * - A tab that opens takes `alone` (shared) before it may commit: the tab that was alone is told and releases it. From a tab that
 *   does not answer (frozen) `alone` is stolen, and its last lease is waited out.
 * - A lease lasts a moment past the last proof that `alone` is held. It is counted from before the proof was requested, on the
 *   monotonic clock; a tab that was frozen finds its lease expired when it thaws.
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
/** Age of the proof at which a new one is requested. */
const RENEW_MS = 400;
const RETRY_MS = 2000;
/** How long a tab may take to release `alone` before it is stolen. */
export const ANSWER_MS = 1000;
/** Added to the other tab's lease: monotonic clocks of two processes tick alike, timers are not exact. */
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
  /** How often this tab became alone. */
  private terms = 0;
  /** Number of announcements of other tabs. */
  private announced = 0;
  private leave: (() => void) | undefined = undefined;

  constructor(options: LeaseOptions) {
    this.options = options;
    this.aloneName = `burrow:alone:${options.name}`;
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
    await this.passGate();
    await this.tryAlone();
  }

  /** Whether no other tab can have committed until now. Cheap: requests the next proof in the background. */
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

  /** A number that stays the same while no other tab can commit; undefined: one can. */
  term(): number | undefined {
    return this.isHeld() ? this.terms : undefined;
  }

  /** Another tab is opening. */
  giveUp(): void {
    const { state } = this;
    this.announced++;
    this.state = { kind: 'together', triedAt: this.options.now() };
    // Last, so that the tab that gets the lock finds this one without a lease.
    if (state.kind === 'alone') state.release();
  }

  /** Another tab has closed: this one may be alone now. */
  onLeft(): void {
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
    // Rejected when another tab that opens has stolen it in turn. The old lease ends all the same.
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

  /** Resolves when it is known whether this tab is alone; if so, the lock stays held. */
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
          // A tab that announced itself meanwhile may be missing in the list, and announces itself only once.
          if (!isOwner || others > 0 || announced !== this.announced || !this.leave) return;
          const held = new Promise<void>((release) => {
            this.terms += 1;
            this.state = { kind: 'alone', provedAt: askedAt, release };
          });
          settled();
          await held;
        })
        // Rejected when a tab stole it that was not answered in time.
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
