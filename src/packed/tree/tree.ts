/** The newest version that this tab knows, the block cache, and the versions that running reads have pinned. */
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
  /** Limit for the bytes of cached blocks. */
  readonly cacheBytesMax: number;
  /**
   * The lease term: a number while no other tab can commit, different for each term. Undefined while other tabs can
   * commit.
   */
  readonly leaseTerm: () => number | undefined;
  /** Called for each append, unless no other tab can commit. */
  readonly broadcast: (appended: Appended) => void;
}

/** An appended record, sent to other tabs so that they need not read it. */
export interface Appended {
  /** The number of its first part. */
  readonly first: number;
  readonly parts: readonly Uint8Array[];
}

/**
 * Maximum number of indexes, of a few KB each, that are read ahead. In larger trees the others are read when they are
 * needed.
 */
const INDEXES_AHEAD_MAX = 500;

export class Tree {
  version: Version = EMPTY_VERSION;
  readonly cache: BlockCache;
  readonly medium: Medium;
  private readonly leaseTerm: TreeOptions['leaseTerm'];
  private readonly broadcast: TreeOptions['broadcast'];
  /** The lease term in which the log was last read. As long as this term lasts, no other tab has committed since. */
  private seenIn: number | undefined = undefined;
  /**
   * Number of appends whose result was lost. A read of the log that began before such an append may have missed its
   * record.
   */
  private lost = 0;
  private readonly pins = new Map<Manifest, number>();

  constructor({ medium, cacheBytesMax, leaseTerm, broadcast }: TreeOptions) {
    this.medium = medium;
    this.leaseTerm = leaseTerm;
    this.broadcast = broadcast;
    this.cache = new BlockCache(cacheBytesMax);
  }

  /** Whether the known version is certainly the newest. */
  isCurrent(): boolean {
    return this.seenIn !== undefined && this.seenIn === this.leaseTerm();
  }

  /** Reads the log behind the known version, and blocks in the same read. */
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
      // The blocks belonged to a version that is no longer the newest. If they are still needed, they are loaded again.
      if (!(reason instanceof BlockMissing)) throw reason;
    }
  }

  /** @throws BlockMissing */
  async load(access: BlockAccess): Promise<void> {
    const { ranges, take } = access.request();
    take(await this.medium.read(undefined, ranges));
  }

  /** Reads table indexes before their first use, so that a look-up needs only one call of the medium. */
  async loadIndexes(): Promise<void> {
    const access = new BlockAccess(this.cache);
    for (const table of tablesOf(this.version.manifest).slice(-INDEXES_AHEAD_MAX))
      access.index(table);
    if (!access.isMissing) return;
    try {
      await this.load(access);
    } catch (reason) {
      // Another tab has just merged a table, or one is damaged. A read that needs it gets the error again.
      if (!(reason instanceof BlockMissing) && !(reason instanceof Refusal)) throw reason;
    }
  }

  /** Appends a record. Returns its number, or undefined if another tab appended first, in which case it is not stored. */
  async append(record: LogRecord, durability: Durability): Promise<number | undefined> {
    const parts = partsOf(recordBytes(record));
    const first = this.version.number + 1;
    const isAppended = await this.medium.append(parts, first, durability).catch(this.unsure);
    if (!isAppended) return undefined;
    return this.appended({ first, parts }, record);
  }

  /**
   * Appends the record that `make` makes for the newest version. No other append comes in between, unless a block had
   * to be loaded.
   * @param make returns undefined if nothing is to be appended
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

  /**
   * Applies a record that another tab has appended. It is ignored if it does not follow the known version or cannot be
   * read: the next refresh reads the log.
   */
  applyAppended({ first, parts }: Appended): void {
    if (first !== this.version.number + 1) return;
    try {
      this.advanceTo(parts.map((bytes, i) => ({ number: first + i, bytes })));
    } catch (reason) {
      // Only reading the log can show whether the message or the stored record is damaged.
      if (!(reason instanceof Refusal)) throw reason;
    }
  }

  /** The oldest part of the memtable that is not flushed. It no longer changes. Undefined if there is nothing to flush. */
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
   * Called when a block of a version was missing. Resolves when there is a newer version, which may not need the block.
   * @throws Refusal `local_data_loss` when there is no newer version
   */
  async recover({ manifest }: Version, { id }: BlockMissing): Promise<void> {
    await this.refresh();
    if (this.version.manifest === manifest) throw damaged(`block ${id}`, 'it is missing');
  }

  /**
   * Returns the result of the body. Undefined if the body needs a table that another tab has merged; there is then a
   * newer version.
   * @throws Refusal `local_data_loss` when a block is missing from the newest version
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

  /**
   * Called when an append failed. The record may be stored nevertheless, so not even a tab with the lease knows the end
   * of the log.
   */
  private readonly unsure = (reason: unknown): never => {
    this.lost += 1;
    this.seenIn = undefined;
    throw reason;
  };

  private appended({ first, parts }: Appended, record: LogRecord): number {
    if (this.leaseTerm() === undefined) this.broadcast({ first, parts });
    const number = first + parts.length - 1;
    // A reader may have found the record in the log already.
    if (number > this.version.number)
      this.setVersion(versionWith(this.version, [{ number, record }]));
    return number;
  }

  /** Parts that a broadcast has brought during the read are skipped. */
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
