/** The newest version this tab knows, the cache, and who still reads which version. */
import { Refusal } from '../../errors.ts';
import type { Durability } from '../../store/port.ts';
import { partsOf } from '../codec/log-parts.ts';
import { recordBytes, type LogRecord } from '../codec/log-record.ts';
import { damaged } from '../damage.ts';
import { tablesOf, type Manifest } from '../manifest.ts';
import type { LogPart, Medium } from '../medium.ts';
import { BlockAccess, BlockMissing } from './block-access.ts';
import { BlockCache } from './block-cache.ts';
import {
  EMPTY_VERSION,
  sealed,
  versionAfter,
  versionWith,
  type Layer,
  type Version,
} from './version.ts';

export interface TreeOptions {
  readonly medium: Medium;
  /** Of blocks in memory. */
  readonly cacheBytesMax: number;
  /** The term of the lease: a number while no other tab can commit, another each time that this begins; undefined: one can. */
  readonly leaseTerm: () => number | undefined;
  /** Called when something has been appended, unless no other tab can commit. */
  readonly broadcast: (appended: Appended) => void;
}

/** A record that is stored, so that other tabs need not read it. */
export interface Appended {
  /** The number of its first part. */
  readonly first: number;
  readonly parts: readonly Uint8Array[];
}

/** Indexes of a few KB each: of larger trees those not read ahead are read when they are needed. */
const INDEXES_AHEAD_MAX = 500;

export class Tree {
  version: Version = EMPTY_VERSION;
  readonly cache: BlockCache;
  readonly medium: Medium;
  private readonly leaseTerm: TreeOptions['leaseTerm'];
  private readonly broadcast: TreeOptions['broadcast'];
  /** The term of the lease in which the log was read: nobody else has committed since, as long as it lasts. */
  private seenIn: number | undefined = undefined;
  /** Appends whose answer was lost: a read of the log that began before one may not have seen what it appended. */
  private lost = 0;
  private readonly pins = new Map<Manifest, number>();

  constructor({ medium, cacheBytesMax, leaseTerm, broadcast }: TreeOptions) {
    this.medium = medium;
    this.leaseTerm = leaseTerm;
    this.broadcast = broadcast;
    this.cache = new BlockCache(cacheBytesMax);
  }

  /** Whether the version is the newest there is. */
  isCurrent(): boolean {
    return this.seenIn !== undefined && this.seenIn === this.leaseTerm();
  }

  /** Reads the log from where it is known on, and blocks with it. */
  async refresh(access = new BlockAccess(this.cache)): Promise<void> {
    const { ranges, take } = access.request();
    const term = this.leaseTerm();
    const { lost } = this;
    const found = await this.medium.read(this.version.number, ranges);
    this.advanceTo(found.log);
    if (lost === this.lost) this.seenIn = term;
    try {
      take(found);
    } catch (reason) {
      // They were of a version that is no longer the newest; if they are needed all the same, they are loaded again.
      if (!(reason instanceof BlockMissing)) throw reason;
    }
  }

  /** @throws BlockMissing */
  async load(access: BlockAccess): Promise<void> {
    const { ranges, take } = access.request();
    take(await this.medium.read(undefined, ranges));
  }

  /** Indexes of tables are read ahead of their first use, so that a look-up is one call of the medium. */
  async loadIndexes(): Promise<void> {
    const access = new BlockAccess(this.cache);
    for (const table of tablesOf(this.version.manifest).slice(-INDEXES_AHEAD_MAX))
      access.index(table);
    if (!access.isMissing) return;
    try {
      await this.load(access);
    } catch (reason) {
      // Another tab has just merged a table, or one is damaged: whoever needs it meets that again.
      if (!(reason instanceof BlockMissing) && !(reason instanceof Refusal)) throw reason;
    }
  }

  /** Returns its number; undefined: another tab was first, and it is not stored. */
  async append(record: LogRecord, durability: Durability): Promise<number | undefined> {
    const parts = partsOf(recordBytes(record));
    const first = this.version.number + 1;
    const isAppended = await this.medium.append(parts, first, durability).catch(this.unsure);
    if (!isAppended) return undefined;
    return this.appended({ first, parts }, record);
  }

  /**
   * The same of what is made of the newest version there is. Nobody else appends in between, unless a block had to be loaded.
   * @param make undefined: nothing is to be appended
   */
  async appendNext(
    make: () => Promise<LogRecord | undefined>,
    durability: Durability,
  ): Promise<number | undefined> {
    let record: LogRecord | undefined;
    let parts: readonly Uint8Array[] = [];
    const partsAfter = async (log: readonly LogPart[]) => {
      this.advanceTo(log);
      record = await make();
      if (!record) return undefined;
      return (parts = partsOf(recordBytes(record)));
    };
    const first = await this.medium
      .appendAfter(this.version.number, partsAfter, durability)
      .catch(this.unsure);
    if (first === undefined || !record) return undefined;
    return this.appended({ first, parts }, record);
  }

  /** Another tab has appended. What does not follow on what is known here, or cannot be read, waits for the next refresh. */
  applyAppended({ first, parts }: Appended): void {
    if (first !== this.version.number + 1) return;
    try {
      this.advanceTo(parts.map((bytes, i) => ({ number: first + i, bytes })));
    } catch (reason) {
      // The log shows whether it is the message or the record that is damaged.
      if (!(reason instanceof Refusal)) throw reason;
    }
  }

  /** The oldest part of the memtable that is not flushed, as it will stay; undefined: nothing is to be flushed. */
  seal(): Layer | undefined {
    if (this.version.layers.length === 1) this.version = sealed(this.version) ?? this.version;
    return this.version.layers.length > 1 ? this.version.layers.at(-1) : undefined;
  }

  pin({ manifest }: Version): void {
    this.pins.set(manifest, (this.pins.get(manifest) ?? 0) + 1);
  }

  unpin({ manifest }: Version): void {
    const left = (this.pins.get(manifest) ?? 0) - 1;
    if (left > 0) this.pins.set(manifest, left);
    else this.pins.delete(manifest);
  }

  get pinned(): readonly Manifest[] {
    return [...this.pins.keys()];
  }

  /**
   * A block of a version was not there. Resolves when there is a newer version that may do without it.
   * @throws Refusal `local_data_loss` when there is none
   */
  async recover({ manifest }: Version, { id }: BlockMissing): Promise<void> {
    await this.refresh();
    if (this.version.manifest === manifest) throw damaged(`block ${id}`, 'it is missing');
  }

  /**
   * What it returns; undefined: another tab has merged a table that it reads, and there is a newer version.
   * @throws Refusal `local_data_loss` when a block is missing
   */
  async unlessGone<T>(body: () => Promise<T>): Promise<T | undefined> {
    const { version } = this;
    try {
      return await body();
    } catch (reason) {
      if (!(reason instanceof BlockMissing)) throw reason;
      await this.recover(version, reason);
      return undefined;
    }
  }

  /** It may be stored all the same: even a tab with the lease does not know any more what is. */
  private readonly unsure = (reason: unknown): never => {
    this.lost += 1;
    this.seenIn = undefined;
    throw reason;
  };

  private appended({ first, parts }: Appended, record: LogRecord): number {
    if (this.leaseTerm() === undefined) this.broadcast({ first, parts });
    const number = first + parts.length - 1;
    // A reader may have found it in the log already.
    if (number > this.version.number)
      this.setVersion(versionWith(this.version, [{ number, record }]));
    return number;
  }

  /** What was read may have come by a broadcast meanwhile. */
  private advanceTo(log: readonly LogPart[]): void {
    const { number } = this.version;
    this.setVersion(
      versionAfter(
        this.version,
        log.filter((part) => part.number > number),
      ),
    );
  }

  private setVersion(version: Version): void {
    const hasFlipped = version.manifest !== this.version.manifest;
    this.version = version;
    if (hasFlipped) this.cache.keepTablesOf([version.manifest, ...this.pins.keys()]);
  }
}
