/**
 * Processes that can be killed, frozen, and failed by their store. At a kill, what a process has begun and not stored is gone, and
 * nobody hears from it again. Where they can die has a name: every name must have been met over a campaign.
 */
import type { Store } from '../../../store/port.ts';
import type { Chance, Clockwork } from './clockwork.ts';

/** What a store says that is not there for a while, as PostgreSQL does with 40001. */
export class StoreTrouble extends Error {
  /** What was to be written is stored all the same. */
  readonly isStored: boolean;

  constructor(message: string, isStored: boolean) {
    super(message);
    this.isStored = isStored;
  }
}

export class Process {
  isAlive = true;
  /** The name of the place where it dies, if it is to die. */
  doom: string | undefined = undefined;
  /** The next write fails: before anything was stored, or after, when nobody knows. */
  trouble: 'before' | 'after' | undefined = undefined;
  private frozenUntil = 0;
  private readonly clockwork: Clockwork;
  private readonly onDeath: (where: string) => void;
  /** What it is doing, and how many times at once. */
  private readonly doing = new Map<string, number>();

  constructor(clockwork: Clockwork, onDeath: (where: string) => void) {
    this.clockwork = clockwork;
    this.onDeath = onDeath;
  }

  kill(where: string): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.onDeath(where);
  }

  freeze(ms: number): void {
    this.frozenUntil = this.clockwork.now + ms;
  }

  get isFrozen(): boolean {
    return this.frozenUntil > this.clockwork.now;
  }

  /** Here it may die, and here it stands still while it is frozen. Never settles once it is dead. */
  async pass(place?: string): Promise<void> {
    while (this.isAlive && this.isFrozen)
      await this.clockwork.sleep(this.frozenUntil - this.clockwork.now);
    if (place !== undefined && this.doom === place) this.kill(place);
    if (!this.isAlive) await NEVER;
  }

  async passCommit(moment: 'before commit' | 'committed'): Promise<void> {
    for (const what of this.doing.keys()) await this.pass(`${what} ${moment}`);
    await this.pass();
  }

  isDoing(what: string): boolean {
    return this.doing.has(what);
  }

  async during<T>(what: string, work: () => Promise<T>): Promise<T> {
    this.doing.set(what, (this.doing.get(what) ?? 0) + 1);
    try {
      const value = await work();
      await this.pass();
      return value;
    } finally {
      const left = (this.doing.get(what) ?? 1) - 1;
      if (left > 0) this.doing.set(what, left);
      else this.doing.delete(what);
    }
  }
}

const NEVER = new Promise<never>(() => undefined);

export interface StoreOptions {
  readonly process: Process;
  readonly chance: Chance;
  readonly clockwork: Clockwork;
  readonly count: (what: string) => void;
  readonly onWritten?: () => void;
}

/** The store of one process over what outlives it; each call takes a while. */
export function processStore(store: Store, options: StoreOptions): Store {
  const { process, chance, clockwork, count, onWritten } = options;
  const latency = async (): Promise<void> => {
    if (chance.is(0.3)) await clockwork.sleep(chance.next() * 5);
    await process.pass();
  };
  const fail = (moment: 'before' | 'after'): void => {
    if (process.trouble !== moment) return;
    process.trouble = undefined;
    count(`store fails ${moment} a commit`);
    throw new StoreTrouble(`could not serialize access (${moment} the commit)`, moment === 'after');
  };
  return {
    async read(body, options) {
      await latency();
      const value = await store.read(body, options);
      await process.pass();
      return value;
    },
    async write(body, options) {
      await latency();
      await process.passCommit('before commit');
      fail('before');
      let value;
      try {
        value = await store.write(body, options);
      } catch (reason) {
        if (reason instanceof StoreTrouble && reason.isStored) onWritten?.();
        throw reason;
      }
      onWritten?.();
      await process.passCommit('committed');
      fail('after');
      return value;
    },
    close: () => Promise.resolve(),
  };
}
