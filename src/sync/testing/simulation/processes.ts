/** Processes that can be killed: at a kill, what a process has begun and not stored is gone, and nobody hears from it again. */
import { createMemoryStore, type SharedMemory } from '../../../store/memory.ts';
import type { Store } from '../../../store/port.ts';
import type { Chance, Clockwork } from './clockwork.ts';

export class Process {
  isAlive = true;
  /** Where it dies, if it is to die: before its next write, or after it. */
  doom: 'before write' | 'after write' | undefined = undefined;
  private readonly onDeath: (where: string) => void;

  constructor(onDeath: (where: string) => void = () => undefined) {
    this.onDeath = onDeath;
  }

  kill(where: string): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.onDeath(where);
  }

  /** Never settles once the process is dead. */
  async living<T>(work: Promise<T>): Promise<T> {
    const value = await work;
    return this.isAlive ? value : NEVER;
  }
}

const NEVER = new Promise<never>(() => undefined);

/** The store of one process over memory that outlives it; each call takes a while. */
export function processStore(
  memory: SharedMemory,
  process: Process,
  { chance, clockwork }: { readonly chance: Chance; readonly clockwork: Clockwork },
): Store {
  const store = createMemoryStore(memory);
  const latency = async (): Promise<void> => {
    if (chance.is(0.5)) await clockwork.sleep(chance.next() * 5);
    if (!process.isAlive) await NEVER;
  };
  return {
    async read(body, options) {
      await latency();
      return process.living(store.read(body, options));
    },
    async write(body, options) {
      await latency();
      if (process.doom === 'before write') process.kill('before write');
      if (!process.isAlive) return NEVER;
      const value = await store.write(body, options);
      if (process.doom === 'after write') process.kill('after write');
      return process.living(Promise.resolve(value));
    },
    close: () => Promise.resolve(),
  };
}
