/**
 * A disk with the log and the blocks of a packed store. Each tab opens a store of its own over them, which flushes and merges; a tab that
 * dies leaves what was stored until then. In parallel, each stored commit is applied to a store in memory, with which all reads of the
 * packed store are compared.
 */
import { isDeepStrictEqual } from 'node:util';
import { EVERY_KEY } from '../../../codec/ranges.ts';
import type { Change, LogRecord } from '../../../packed/codec/log-record.ts';
import { PACKED_LIMITS, type PackedLimits } from '../../../packed/limits.ts';
import { tablesOf } from '../../../packed/manifest.ts';
import type { Medium, StoredBlock } from '../../../packed/medium.ts';
import { PackedStore, type PackedStoreOptions } from '../../../packed/packed-store.ts';
import { MediumData } from '../../../packed/testing/memory-medium.ts';
import { isIndexOrBlock, withoutDeletions } from '../../../packed/testing/simulation/faults.ts';
import { recordOf } from '../../../packed/testing/simulation/sim-medium.ts';
import { createMemoryStore, SharedMemory } from '../../../store/memory.ts';
import { SPACES, type Range, type Store } from '../../../store/port.ts';
import type { Disk } from './disk.ts';
import { StoreTrouble, type Process } from './processes.ts';
import { said, type World } from './world.ts';

/** Low limits: a few writes fill a table, and a few tables are merged. */
const LIMITS: PackedLimits = {
  ...PACKED_LIMITS,
  memtableBytesMax: 24_000,
  commitsMax: 12,
  tableBytes: 6000,
  blockBytes: 800,
  rowBlockBytes: 1200,
  putBytes: 6000,
  sliceItems: 100,
  runsPerLevel: 3,
};

/** Steps of a flush or a merge after which a tab may die. */
const STEPS = ['claim stored', 'blocks stored', 'flip stored', 'log cut'] as const;
type Step = (typeof STEPS)[number];

/** Events that must occur at least once; otherwise a campaign proves nothing about the packed store. */
export const PACKED_EXPECTED: readonly string[] = [
  'memtable flushed',
  'tables merged',
  'packed store opened again',
  'packed store opened again with tables',
  'packed store swept',
  'packed store compared',
  'answer of a disk lost, stored',
  'answer of a disk lost, not stored',
  'disk lost amid a commit',
  'disk lost amid a commit, another tab came first',
  ...STEPS.map((step) => `tab dies: ${step}`),
];

const EVERYTHING: readonly Range[] = SPACES.flatMap((space) =>
  (['key', 'entry'] as const).map((by) => ({
    space,
    by,
    ...EVERY_KEY,
    limit: Number.MAX_SAFE_INTEGER,
    reverse: false,
    rows: true,
  })),
);

/** Share of messages between tabs that arrive. */
const HEARD = 0.7;
/** Share of calls of the medium whose answer is lost, whether or not the call had an effect. */
const FAILS = 0.02;
/** Share of appends after a read whose connection is lost before they commit. Within `RECONNECTS_MS` they have a new one. */
const LOSES_CONNECTION = 0.3;
const RECONNECTS_MS = 1000;
const SWEEP_MS = 20_000;

/** Outcome of an `appendAfter`: its connection was lost before it could append with this number, or it has ended. */
type Tried =
  | { readonly kind: 'lost'; readonly number: number }
  | {
      readonly kind: 'over';
      /** Undefined: nothing was appended. */
      readonly number: number | undefined;
      /** The answer is lost. */
      readonly fails: boolean;
      readonly step: Step | undefined;
    };

const NOTHING: Tried = { kind: 'over', number: undefined, fails: false, step: undefined };

export class PackedDisk implements Disk {
  readonly memory = new SharedMemory();
  readonly places = STEPS;
  private readonly data = new MediumData();
  private readonly world: World;
  private readonly dropsDeletions: boolean;
  private readonly tabs = new Map<Process, PackedStore>();
  private opened = 0;
  private readonly isOpen = new WeakSet<Process>();
  /** The process that flushes and merges. */
  private holder: Process | undefined = undefined;
  private reader: { readonly number: number; readonly store: Promise<PackedStore> } | undefined =
    undefined;
  private compared: SharedMemory['version'] | undefined = undefined;

  /** @param dropsDeletions planted fault: deletions that hide an older row in another table are not written */
  constructor(world: World, dropsDeletions = false) {
    this.world = world;
    this.dropsDeletions = dropsDeletions;
  }

  copy(): PackedDisk {
    const copy = new PackedDisk(this.world, this.dropsDeletions);
    copy.memory.version = this.memory.version;
    copy.data.log = [...this.data.log];
    copy.data.lastNumber = this.data.lastNumber;
    copy.data.putBlocks(Array.from(this.data.blocks, ([id, bytes]) => ({ id, bytes })));
    return copy;
  }

  storeOf(process: Process): Store {
    const opening = this.open(process);
    opening.catch(this.onFault);
    return whenOpen(() => opening);
  }

  direct(): Store {
    return whenOpen(() => this.reopened());
  }

  async damage(): Promise<readonly string[]> {
    const { version } = this.memory;
    if (this.compared === version) return [];
    this.compared = version;
    this.world.count('packed store compared');
    const store = await this.reopened();
    const all = (of: Store) => of.read((tx) => tx.fetch([], EVERYTHING), { spaces: SPACES });
    const found = (await all(store)).ranges;
    const written = (await all(createMemoryStore(this.memory))).ranges;
    const differing = EVERYTHING.filter((_, i) => !isDeepStrictEqual(found[i], written[i]));
    return [
      ...differing.map(({ space, by }) => `does not read ${space} by ${by} as it was written`),
      ...(await store.verify()),
    ];
  }

  private async open(process: Process): Promise<PackedStore> {
    const { world, onFault } = this;
    const { chance, clockwork } = world;
    for (const each of this.tabs.keys()) if (!each.isAlive) this.tabs.delete(each);
    const isAgain = this.data.lastNumber > 0 && this.tabs.size === 0;
    this.opened += 1;
    const store = new PackedStore({
      ...this.tabOptions(process),
      medium: this.mediumOf(process),
      limits: LIMITS,
      cacheBytesMax: chance.pick([0, 20_000, 1_000_000]),
      onFailure: onFault,
    });
    this.tabs.set(process, store);
    await store.open();
    this.isOpen.add(process);
    if (isAgain) world.count('packed store opened again');
    if (isAgain && tablesOf(store.manifest).length > 0)
      world.count('packed store opened again with tables');
    clockwork.after(chance.next() * SWEEP_MS, () => {
      if (process.isAlive) store.sweep().then(() => world.count('packed store swept'), onFault);
    });
    return store;
  }

  private tabOptions(
    process: Process,
  ): Pick<PackedStoreOptions, 'pause' | 'broadcast' | 'leaseTerm' | 'exclusively'> {
    const { chance, clockwork } = this.world;
    return {
      pause: async () => {
        await clockwork.sleep(chance.next() * 3);
        await process.pass();
      },
      broadcast: (appended) => {
        for (const [other, store] of this.tabs)
          if (other !== process && other.isAlive && chance.is(HEARD)) store.applyAppended(appended);
      },
      leaseTerm: () => (this.holdsLease() ? this.opened : undefined),
      exclusively: async (body) => {
        const { holder } = this;
        if (holder?.isAlive && !holder.isFrozen) return;
        this.holder = process;
        try {
          await body();
        } finally {
          if (this.holder === process) this.holder = undefined;
        }
      },
    };
  }

  private holdsLease(): boolean {
    return [...this.tabs.keys()].filter(({ isAlive }) => isAlive).length === 1;
  }

  /** The medium of a tab. Its calls take time, may fail, and have no effect once the tab is dead. */
  private mediumOf(process: Process): Medium {
    const { chance, clockwork } = this.world;
    const medium = this.medium();
    const begin = async (): Promise<void> => {
      if (chance.is(0.1)) await clockwork.sleep(chance.next() * 5);
      await process.pass();
    };
    const call = async <T>(ask: () => Promise<T>, step?: Step): Promise<T> => {
      await begin();
      // Calls fail only after the database was opened; tabs that cannot open it are not simulated here.
      const fails = this.isOpen.has(process) && this.happens(FAILS);
      const isDone = !fails || chance.is(0.5);
      const answer = isDone ? await ask() : undefined;
      await process.pass(step);
      if (fails) throw this.trouble(isDone && answer !== false);
      // Calls that do not fail are done.
      return answer as T;
    };
    /** Functions that end open transactions of `appendAfter`. */
    const open = new Set<() => void>();
    return {
      read(...asked) {
        for (const end of open) end();
        return call(() => medium.read(...asked));
      },
      append: (parts, ...more) => call(() => medium.append(parts, ...more), stepOf(parts)),
      appendAfter: async (after, make) => {
        await begin();
        for (;;) {
          const tried = await this.tryAppendAfter(after, make, open);
          if (tried.kind !== 'lost') {
            await process.pass(tried.step);
            if (tried.fails) throw this.trouble(tried.number !== undefined);
            return tried.number;
          }
          await clockwork.sleep(chance.next() * RECONNECTS_MS);
          await process.pass();
          if (!this.isFree(tried.number)) return undefined;
        }
      },
      putBlocks: (blocks) => call(() => medium.putBlocks(blocks), 'blocks stored'),
      trim: (...trim) => call(() => medium.trim(...trim), 'log cut'),
      close: () => Promise.resolve(),
    };
  }

  /**
   * Appends in one transaction, so no other tab appends in between. It ends when its tab reads something else, as in a browser. Its
   * connection may be lost before it commits.
   */
  private async tryAppendAfter(
    after: number,
    make: Parameters<Medium['appendAfter']>[1],
    open: Set<() => void>,
  ): Promise<Tried> {
    const { data, world } = this;
    let making: ReturnType<typeof make> | undefined;
    const tried = await data.appends.run(async (): Promise<Tried | undefined> => {
      const expected = data.lastNumber + 1;
      let end = (): void => undefined;
      const over = new Promise<'over'>((resolve) => open.add((end = () => resolve('over'))));
      making = make(data.read(after, []).log);
      const parts = await Promise.race([making, over]).finally(() => open.delete(end));
      if (parts === 'over') return undefined;
      if (!parts) return NOTHING;
      if (this.happens(LOSES_CONNECTION)) return { kind: 'lost', number: expected };
      const fails = this.happens(FAILS);
      const isAdded = !(fails && world.chance.is(0.5)) && (await this.add(parts, expected));
      const number = isAdded ? expected : undefined;
      return { kind: 'over', number, fails, step: stepOf(parts) };
    });
    if (tried) return tried;
    await making;
    return NOTHING;
  }

  /** On a new connection: whether the number is still free. @throws StoreTrouble if it is not known any more who has used it */
  private isFree(number: number): boolean {
    const { data, world } = this;
    world.count('disk lost amid a commit');
    if (data.lastNumber < number) return true;
    if (!data.log.some((part) => part.number === number)) throw this.trouble(false);
    world.count('disk lost amid a commit, another tab came first');
    return false;
  }

  private happens(probability: number): boolean {
    const { chance, isCalm } = this.world;
    return !isCalm && chance.is(probability);
  }

  private trouble(isStored: boolean): StoreTrouble {
    const what = isStored ? 'stored' : 'not stored';
    this.world.count(`answer of a disk lost, ${what}`);
    return new StoreTrouble(`The answer of the disk was lost: ${what}.`, isStored);
  }

  /** The medium without faults. */
  private medium(): Medium {
    const { data } = this;
    return {
      read: async (after, blocks) => data.read(after, blocks),
      append: (parts, expected) => data.appends.run(() => this.add(parts, expected)),
      appendAfter: (after, make) =>
        data.appends.run(async () => {
          const { log } = data.read(after, []);
          const expected = data.lastNumber + 1;
          const parts = await make(log);
          return parts && (await this.add(parts, expected)) ? expected : undefined;
        }),
      putBlocks: async (blocks) => data.putBlocks(blocks.map((block) => this.planted(block))),
      trim: async (...trim) => data.trim(...trim),
      close: () => Promise.resolve(),
    };
  }

  /** Appends, and applies the commit to the store in memory, too. */
  private async add(parts: readonly Uint8Array[], expected: number): Promise<boolean> {
    const isAdded = this.data.append(parts, expected);
    if (isAdded) await this.noteStored(recordOf(parts));
    return isAdded;
  }

  private async noteStored(record: LogRecord): Promise<void> {
    if (record.kind === 'flip')
      this.world.count(record.manifest.retired.length > 0 ? 'tables merged' : 'memtable flushed');
    if (record.kind !== 'commit') return;
    const store = createMemoryStore(this.memory);
    await store.write(async (tx) => tx.apply(writesOf(record.changes)), {
      durability: 'relaxed',
      spaces: SPACES,
    });
  }

  private planted({ id, bytes }: StoredBlock): StoredBlock {
    const isChanged = this.dropsDeletions && isIndexOrBlock(bytes) === 'block';
    return { id, bytes: isChanged ? withoutDeletions(bytes) : bytes };
  }

  private readonly onFault = (reason: unknown): void => {
    // The stored data is complete, and will be flushed later.
    if (reason instanceof StoreTrouble) return;
    this.world.problems.push(`fault: ${said(reason)}`);
  };

  /** A store that was opened over the present data. */
  private reopened(): Promise<PackedStore> {
    const number = this.data.lastNumber;
    if (this.reader?.number !== number) {
      const store = new PackedStore({
        medium: this.medium(),
        pause: () => Promise.resolve(),
        onFailure: this.onFault,
      });
      this.reader = { number, store: store.open().then(() => store) };
    }
    return this.reader.store;
  }
}

const whenOpen = (open: () => Promise<Store>): Store => ({
  read: async (...asked) => (await open()).read(...asked),
  write: async (...asked) => (await open()).write(...asked),
  close: () => Promise.resolve(),
});

function stepOf(parts: readonly Uint8Array[]): Step | undefined {
  const { kind } = recordOf(parts);
  return kind === 'commit' ? undefined : `${kind} stored`;
}

const writesOf = (changes: readonly Change[]) => ({
  puts: changes.flatMap(({ space, row }) => (row ? { space, row } : [])),
  deletes: changes.flatMap(({ space, key, row }) => (row ? [] : { space, key })),
});
