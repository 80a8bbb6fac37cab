/** A tab of the simulation. It reads, writes, flushes and sweeps, and compares everything that it reads with the model. */
import {
  keyOfBytes,
  termsPrefix,
  termsPrefixOf,
  valuesPrefix,
  type Key,
} from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import type { RandomSource } from '../../../engine/testing/random-source.ts';
import type { Range, ReadTx, Row, WriteSet, WriteTx } from '../../../store/port.ts';
import { rangeOf } from '../../../store/testing/store-rows.ts';
import { PackedStore } from '../../packed-store.ts';
import type { Medium } from '../../medium.ts';
import type { Appended } from '../../tree/tree.ts';
import { SMALL } from '../packed-kit.ts';
import { trustingLostAppend } from './trusting-lost-append.ts';
import { HEAD_KEY, type Model, modelRange, NOTHING } from './model.ts';
import { must, mustEqual } from './must.ts';
import type { Actor } from './scheduler.ts';
import { SimMedium, StorageFailed, type SimWorld } from './sim-medium.ts';
import { earlyBroadcast } from './early-broadcast.ts';

/** A browser lock. A request fails while another tab holds the lock. */
export interface SimLock {
  holder: Actor | undefined;
}

/** What the tabs of one origin share in addition to the medium. */
export interface SimOrigin {
  readonly lock: SimLock;
  /** Returns a number while the tab is the only one. */
  readonly leaseTerm: (tab: SimTab) => number | undefined;
  readonly broadcast: (from: SimTab, appended: Appended) => void;
}

const KEYS = Array.from({ length: 14 }, (_, i) => keyOfBytes(`k${String(i).padStart(2, '0')}`));
/** Two entries for each of five terms. */
const ENTRIES = Array.from({ length: 10 }, (_, i) =>
  valuesPrefix(termsPrefix(0, 1, [`t${i % 5}`]), [`v${i}`], []),
);
const HEAD = { space: 'meta', key: HEAD_KEY } as const;

/** The result of one run of a body. */
interface Attempt {
  readonly name: string;
  readonly base: string;
  /** Whether a row existed that the body wrote as new. */
  readonly isTaken: boolean;
}

class GaveUp extends Error {}

export class SimTab implements Actor {
  state: Actor['state'] = 'running';
  readonly name: string;
  readonly medium: SimMedium;
  /** The first violation that the tab has found. */
  failure: unknown = undefined;
  isDone = false;
  private store: PackedStore | undefined;
  private readonly world: SimWorld;
  private readonly model: Model;
  private readonly lock: SimLock;
  private readonly random: RandomSource;
  private readonly origin: SimOrigin;
  private writes = 0;
  /** The depth of the newest state that the tab has read or written. */
  private knownDepth = 0;

  constructor(name: string, world: SimWorld, model: Model, origin: SimOrigin) {
    this.name = name;
    this.world = world;
    this.model = model;
    this.lock = origin.lock;
    this.origin = origin;
    this.random = world.random;
    this.medium = new SimMedium(world, this);
  }

  async run(steps: number): Promise<void> {
    try {
      const store = await this.open();
      for (let step = 0; step < steps; step += 1) await this.act(store);
      await store.close();
    } catch (reason) {
      this.failure ??= reason;
    }
    this.isDone = true;
  }

  async open(): Promise<PackedStore> {
    const store = new PackedStore({
      medium: this.faultyMedium(),
      limits: { ...SMALL, partBytes: 10_000 },
      cacheBytesMax: this.random.pick([0, 2000, 100_000]),
      pause: () => this.world.scheduler.stop(this, 'pause'),
      onFailure: (reason) => {
        if (!(reason instanceof StorageFailed)) this.failure ??= reason;
      },
      exclusively: (body) => this.exclusively(body),
      broadcast: (appended) => this.origin.broadcast(this, appended),
      leaseTerm: () => this.origin.leaseTerm(this),
    });
    await store.open();
    this.store = store;
    return store;
  }

  private faultyMedium(): Medium {
    const { fault } = this.world;
    if (fault === 'a commit is broadcast before it is stored')
      return earlyBroadcast(this.medium, (appended) => this.origin.broadcast(this, appended));
    if (fault === 'a tab that holds the lease does not read the log after a failed append')
      return trustingLostAppend(this.medium, () => this.holdsLease());
    return this.medium;
  }

  private holdsLease(): boolean {
    return this.origin.leaseTerm(this) !== undefined;
  }

  /** Receives a message of another tab, after a delay. */
  async receive({ first, parts }: Appended): Promise<void> {
    const { scheduler, crossings, fault } = this.world;
    await scheduler.stop(this, 'received');
    const { store } = this;
    if (!store) return;
    const isNext = first === store.lastNumber + 1;
    crossings.note(isNext ? 'a tab received what comes next' : 'a tab received what it cannot use');
    store.applyAppended({
      first: fault === 'a broadcast has a wrong number' ? first - 1 : first,
      parts,
    });
  }

  /** Reads everything and compares it with the model. Returns the name of the last write. */
  async check(store: PackedStore): Promise<string> {
    const { acknowledgedDepth } = this.model;
    const ranges = [rangeOf({}), rangeOf({ by: 'entry' }), this.anyRange()];
    const name = await store.read(async (tx) => {
      const read = await this.compare(tx, KEYS.slice(0, 5), ranges);
      must(this.model.depth(read) >= acknowledgedDepth, `${this.name} read an old state`);
      return read;
    });
    this.recordKnown(name);
    return name;
  }

  /** The same without reading the log. The state may be old, but never older than the tab knows. */
  private async checkKnown(store: PackedStore): Promise<void> {
    const { model, knownDepth } = this;
    const { acknowledgedDepth } = model;
    const ranges = [rangeOf({}), rangeOf({ by: 'entry' }), this.anyRange()];
    const name = await store.read((tx) => this.compare(tx, KEYS.slice(0, 5), ranges), {
      allowsStale: true,
    });
    const depth = model.depth(name);
    must(depth >= knownDepth, `${this.name} went back`);
    const { crossings } = this.world;
    if (depth < acknowledgedDepth)
      crossings.note('a stale read showed less than the newest commit');
    if (depth > this.knownDepth && !name.startsWith(`${this.name}/`))
      crossings.note('a stale read showed what another tab has broadcast');
    this.recordKnown(name);
  }

  private recordKnown(name: string): void {
    this.knownDepth = Math.max(this.knownDepth, this.model.depth(name));
    this.model.show(name);
  }

  private async act(store: PackedStore): Promise<void> {
    const what = this.random.next();
    if (this.random.chance(0.05)) this.warm(store);
    if (what < 0.15) {
      await Promise.all([this.write(store), this.check(store)]);
      this.world.crossings.note('a tab read while it wrote');
    } else if (what < 0.6) await this.write(store);
    else if (what < 0.75) await this.check(store);
    else if (what < 0.9) await this.checkKnown(store);
    else if (what < 0.97) await store.flush();
    else {
      await store.sweep();
      this.world.crossings.note('orphans were swept');
    }
  }

  /** Warms the cache concurrently with everything else. */
  private warm(store: PackedStore): void {
    const { crossings } = this.world;
    const { manifest } = store;
    const bytesMax = this.random.pick([1000, 50_000]);
    const idle = (): Promise<void> => this.world.scheduler.stop(this, 'idle');
    store.warm({ bytesMax, idle }).then(
      () => {
        crossings.note('a tab was warmed');
        if (store.manifest !== manifest) crossings.note('a flip came while a tab was warmed');
      },
      (reason: unknown) => (this.failure ??= reason),
    );
  }

  private async write(store: PackedStore): Promise<void> {
    const { acknowledgedDepth } = this.model;
    const givesUp = this.random.chance(0.05);
    let attempt: Attempt | undefined;
    let attempts = 0;
    const body = async (tx: WriteTx): Promise<void> => {
      attempts += 1;
      attempt = await this.attempt(tx);
      if (givesUp) throw new GaveUp();
    };
    try {
      await store.write(body, { durability: 'relaxed' });
      must(attempt?.isTaken === false, 'a new row was there');
      if (attempt) {
        this.model.acknowledge(attempt.name);
        this.recordKnown(attempt.name);
      }
    } catch (reason) {
      if (reason instanceof StorageFailed) {
        await this.lookAfter(store, attempt?.name, reason);
        return;
      }
      must(reason instanceof GaveUp || attempt?.isTaken === true, String(reason));
      const depth = this.model.depth(attempt?.base ?? NOTHING);
      must(depth >= acknowledgedDepth, `${this.name} failed for an old state`);
    }
    if (attempts > 1) this.world.crossings.note('a body ran again');
  }

  /** Once the caller knows that a write may be stored, every reader must see it if it is stored. */
  private async lookAfter(
    store: PackedStore,
    name: string | undefined,
    { isStored }: StorageFailed,
  ): Promise<void> {
    const { model, random } = this;
    if (name !== undefined && isStored) model.acknowledge(name);
    if (random.chance(0.5)) return;
    const { crossings } = this.world;
    const holdsLease = this.holdsLease();
    await this.check(store);
    if (isStored) crossings.note('a read showed a commit that had failed');
    if (holdsLease && this.holdsLease())
      crossings.note('a tab with the lease read after its commit had failed');
  }

  private async attempt(tx: WriteTx): Promise<Attempt> {
    this.writes += 1;
    const name = `${this.name}/${this.writes}`;
    const keys = this.random.some(3, () => this.random.pick(KEYS));
    const base = await this.compare(tx, keys, [this.anyRange()]);
    const writes = this.anyWrites(name);
    this.model.offer(name, base, writes);
    const head: Row = { key: HEAD_KEY, entries: [], value: name };
    tx.apply({ ...writes, puts: [...writes.puts, { space: 'meta', row: head }] });
    const state = this.model.state(base);
    const isTaken = writes.puts.some(({ row, isNew }) => isNew && state.has(row.key));
    return { name, base, isTaken };
  }

  /** Reads the head and other data in one or two fetches. Returns the name in the head. */
  private async compare(
    tx: ReadTx,
    keys: readonly Key[],
    ranges: readonly Range[],
  ): Promise<string> {
    const addresses = keys.map((key) => ({ space: 'documents', key }) as const);
    const isApart = this.random.chance(0.5);
    const first = await tx.fetch(isApart ? [HEAD] : [HEAD, ...addresses], isApart ? [] : ranges);
    const second = isApart ? await tx.fetch(addresses, ranges) : first;
    const name = String(first.rows[0]?.value ?? NOTHING);
    const state = this.model.state(name);
    const rows = isApart ? second.rows : second.rows.slice(1);
    mustEqual(
      rows,
      keys.map((key) => state.get(key)),
      'rows',
    );
    mustEqual(
      second.ranges,
      ranges.map((range) => modelRange(state, range)),
      'ranges',
    );
    return name;
  }

  private anyWrites(name: string): WriteSet {
    const keys = new Set(this.random.some(4, () => this.random.pick(KEYS)));
    const puts: { space: 'documents'; row: Row; isNew?: boolean }[] = [];
    const deletes: { space: 'documents'; key: Key }[] = [];
    for (const key of keys) {
      if (this.random.chance(0.3)) deletes.push({ space: 'documents', key });
      else puts.push({ space: 'documents', row: this.anyRow(key, name), ...this.anyNewness() });
    }
    return { puts, deletes };
  }

  private anyRow(key: Key, name: string): Row {
    const entries = [...new Set(this.random.some(3, () => this.random.pick(ENTRIES)))];
    return { key, entries, value: `${name} ${'x'.repeat(this.random.below(40))}` };
  }

  private anyNewness(): { isNew?: boolean } {
    return this.random.chance(0.1) ? { isNew: true } : {};
  }

  private anyRange(): Range {
    const by = this.random.pick(['key', 'entry'] as const);
    const bounds = by === 'key' ? KEYS : ENTRIES;
    return rangeOf({
      by,
      ...this.anyBounds(bounds),
      reverse: this.random.chance(0.5),
      limit: this.random.pick([1, 3, 1000]),
      rows: this.random.chance(0.5),
    });
  }

  private anyBounds(bounds: readonly Key[]): { readonly lower: Key; readonly upper: Key } {
    const lower = this.random.pick(bounds);
    const terms = termsPrefixOf(lower);
    if (terms !== undefined && this.random.chance(0.5)) return prefixRange(terms);
    return { lower, upper: this.random.pick(bounds) };
  }

  private async exclusively(body: () => Promise<void>): Promise<void> {
    await this.world.scheduler.stop(this, 'lock');
    const { holder } = this.lock;
    if (holder && holder.state === 'running') return;
    if (holder?.state === 'frozen')
      this.world.crossings.note('the lock of a frozen tab was stolen');
    this.lock.holder = this;
    try {
      await body();
    } finally {
      if (this.lock.holder === this) this.lock.holder = undefined;
    }
  }
}
