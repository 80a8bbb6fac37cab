/** The store port over a log and blocks. See docs/decisions/0014-packed-store.md. */
import { databaseClosed } from '../fault-texts.ts';
import {
  SPACES,
  type ReadTx,
  type SnapshotOptions,
  type Store,
  type WriteOptions,
} from '../store/port.ts';
import { Committer, type WriteBody } from './commit.ts';
import { damaged } from './damage.ts';
import { PACKED_LIMITS, type PackedLimits } from './limits.ts';
import { Maintenance, type MaintenanceOptions } from './maintenance.ts';
import type { Manifest } from './manifest.ts';
import type { Medium } from './medium.ts';
import { outcomeOf } from './outcome.ts';
import { Foreground } from './tree/foreground.ts';
import { Flips } from './tree/flip.ts';
import { SnapshotTx } from './tree/snapshot-tx.ts';
import { Tree, type Appended } from './tree/tree.ts';
import { warm } from './tree/warm.ts';
import { memtableBytes } from './tree/version.ts';
import { SerialQueue } from '../store/serial-queue.ts';
import { verifyEntries, verifyTree } from './verify.ts';

export interface PackedStoreOptions extends Pick<MaintenanceOptions, 'pause' | 'onFailure'> {
  readonly medium: Medium;
  /** Limit for the bytes of cached blocks. */
  readonly cacheBytesMax?: number;
  /**
   * Returns the lease term: a number while no other tab can commit, different for each term, or undefined. Omitted:
   * other tabs can always commit.
   */
  readonly leaseTerm?: () => number | undefined;
  /**
   * Sends appended records to other tabs, which pass them to `applyAppended()` and so need not read them. Messages may
   * get lost.
   */
  readonly broadcast?: (appended: Appended) => void;
  /** Runs the body if no other tab is flushing or merging. Omitted: there are no other tabs. */
  readonly exclusively?: MaintenanceOptions['exclusively'];
  readonly limits?: Partial<PackedLimits>;
}

export interface WarmingOptions {
  /**
   * Limit for the bytes of all blocks in memory, not only of those read by warming. Default and maximum: three quarters
   * of the cache.
   */
  readonly bytesMax?: number;
  /**
   * Resolves when there is time for a read, for instance after a turn of the event loop.
   * @param isBusy whether transactions have begun since the previous call. Others will probably follow, and would wait for
   * the read, so it should come later.
   */
  readonly idle: (isBusy: boolean) => Promise<void>;
  /** Called before each read. */
  readonly isStopped?: () => boolean;
}

/** Approximate bytes in memory. */
export interface PackedMemory {
  readonly blocks: number;
  /** Fences and Bloom filters. */
  readonly indexes: number;
  readonly memtables: number;
}

const CACHE_BYTES_MAX = 32 * 1024 * 1024;
/**
 * The part of the cache that warming may fill. The rest is for blocks that queries read, so that they evict nothing at
 * first.
 */
const WARMED_MAX = 3 / 4;

export class PackedStore implements Store {
  private readonly tree: Tree;
  private isClosed = false;
  private readonly queue = new SerialQueue();
  private readonly committer: Committer;
  private readonly maintenance: Maintenance;
  private readonly foreground = new Foreground();
  private readonly cacheBytesMax: number;

  constructor(options: PackedStoreOptions) {
    const { medium, cacheBytesMax = CACHE_BYTES_MAX } = options;
    const { leaseTerm = () => undefined, broadcast = () => undefined } = options;
    this.cacheBytesMax = cacheBytesMax;
    this.tree = new Tree({ medium, cacheBytesMax, leaseTerm, broadcast });
    this.committer = new Committer(this.tree);
    this.maintenance = new Maintenance({
      tree: this.tree,
      flips: new Flips(this.tree, this.queue),
      limits: { ...PACKED_LIMITS, ...options.limits },
      pause: options.pause,
      exclusively: options.exclusively ?? ((body) => body()),
      onFailure: options.onFailure,
    });
  }

  /** @throws Refusal `local_data_loss` when the log is damaged or missing */
  async open(): Promise<void> {
    const { tree } = this;
    await tree.refresh();
    if (tree.version.number === 0) await requireNew(tree.medium);
    await tree.loadIndexes();
  }

  async read<T>(
    body: (tx: ReadTx) => Promise<T>,
    { spaces, allowsStale = false }: SnapshotOptions = {},
  ): Promise<T> {
    this.foreground.begin();
    try {
      for (;;) {
        this.requireOpen();
        const version = allowsStale ? this.tree.version : undefined;
        const tx = new SnapshotTx(this.tree, spaces, version);
        const outcome = await outcomeOf(() => body(tx));
        tx.release();
        if (!tx.missing) return outcome();
        if (tx.version) await this.tree.recover(tx.version, tx.missing);
      }
    } finally {
      this.foreground.end();
    }
  }

  async write<T>(body: WriteBody<T>, { spaces = SPACES, durability }: WriteOptions): Promise<T> {
    this.foreground.begin();
    try {
      await this.maintenance.throttle();
      return await this.queue.run(async () => {
        this.requireOpen();
        const before = memtableBytes(this.tree.version);
        const result = await this.committer.commit(body, { spaces, durability });
        this.maintenance.onWritten(memtableBytes(this.tree.version) - before);
        return result;
      });
    } finally {
      this.foreground.end();
    }
  }

  /** Applies what another tab of the same database has appended. Messages may come late, twice or not at all. */
  applyAppended(appended: Appended): void {
    if (!this.isClosed) this.tree.applyAppended(appended);
  }

  /**
   * Reads blocks that no query has needed yet, about 256 kB at a time, and only while no transaction is running. Call it
   * after opening. Resolves when `bytesMax` is reached or there is nothing left to read.
   */
  warm({ bytesMax = Infinity, idle, isStopped = () => false }: WarmingOptions): Promise<void> {
    const { foreground } = this;
    let begun = foreground.begun;
    return warm(this.tree, {
      bytesMax: Math.min(bytesMax, this.cacheBytesMax * WARMED_MAX),
      idle: async () => {
        const isBusy = foreground.begun !== begun;
        ({ begun } = foreground);
        await idle(isBusy);
        await foreground.whenIdle();
      },
      isStopped: () => this.isClosed || isStopped(),
    });
  }

  /** Flushes the memtable into tables. Call it when the store is idle. */
  async flush(): Promise<void> {
    await this.maintenance.flush();
  }

  /** `flush()` if the memtable has enough in it to be worth it. */
  async maybeFlush(): Promise<void> {
    await this.maintenance.maybeFlush();
  }

  /** Deletes blocks that no table refers to. The store also does this from time to time by itself. */
  async sweep(): Promise<void> {
    await this.maintenance.sweep();
  }

  /** Returns a sentence for each damage or inconsistency, or an empty list. */
  async verify(): Promise<readonly string[]> {
    await this.maintenance.whenIdle();
    const ofTables = await verifyTree(this.tree);
    if (ofTables.length > 0) return ofTables;
    return this.read(async (tx) => [
      ...(await verifyEntries(tx, 'documents')),
      ...(await verifyEntries(tx, 'history')),
    ]);
  }

  /** The tables of the newest version this tab knows. */
  get manifest(): Manifest {
    return this.tree.version.manifest;
  }

  /** The last log number that this tab knows. */
  get lastNumber(): number {
    return this.tree.version.number;
  }

  /** Approximate bytes in memory. */
  get memory(): PackedMemory {
    const { cache, version } = this.tree;
    return {
      blocks: cache.blockBytes,
      indexes: cache.indexBytes,
      memtables: memtableBytes(version),
    };
  }

  /** Resolves when no flush, merge or sweep is running. */
  async whenIdle(): Promise<void> {
    await this.maintenance.whenIdle();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.queue.whenIdle();
    await this.maintenance.stop();
    await this.tree.medium.close();
  }

  private requireOpen(): void {
    if (this.isClosed) throw databaseClosed();
  }
}

const ANY_BLOCK = { first: 1, last: Number.MAX_SAFE_INTEGER, limit: 1 };

/**
 * Throws if the log is empty although there are blocks. A claim in the log precedes all blocks of its writer, and the
 * last record is never trimmed. Both are read in one transaction, because another tab may have started writing in the
 * meantime.
 */
async function requireNew(medium: Medium): Promise<void> {
  const { log, blocks } = await medium.read(0, [ANY_BLOCK]);
  if (log.length === 0 && blocks[0]?.length) throw damaged('log record 1', 'it is missing');
}
