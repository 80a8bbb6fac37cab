/**
 * Processes that can be killed and frozen, and whose store can fail. If a process is killed, work that it has not stored is lost, and its
 * calls never settle. Each place where a process can die has a name, and each name must occur at least once in a campaign.
 */
import type { Store } from '../../../store/port.ts';
import type { Chance, Clockwork } from './clockwork.ts';

/** The error of a store that is temporarily unavailable, such as 40001 of PostgreSQL. */
export class StoreTrouble extends Error {
  /** The write was stored in spite of the error. */
  readonly isStored: boolean;

  constructor(message: string, isStored: boolean) {
    super(message);
    this.isStored = isStored;
  }
}

export class Process {
  isAlive = true;
  /** Name of the place where it will die, if it is to die. */
  doom: string | undefined = undefined;
  /** The next write fails: before anything is stored, or after, so that the caller cannot know. */
  trouble: 'before' | 'after' | undefined = undefined;
  private frozenUntil = 0;
  private readonly clockwork: Clockwork;
  private readonly onDeath: (where: string) => void;
  /** What the process is doing, and how many times at once. */
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

  /** A point at which the process may die, and at which it waits while it is frozen. Never settles once the process is dead. */
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

/** The store of a process over data that outlives the process. Each call takes time. */
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
