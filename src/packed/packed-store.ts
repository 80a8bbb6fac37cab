/** The store port over a log and blocks. See docs/decisions/0014-packed-store.md. */
import { Refusal } from '../errors.ts';
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
  /** Of blocks in memory. */
  readonly cacheBytesMax?: number;
  /** The term of the lease: a number while no other tab can commit, another each time that this begins; absent: one always can. */
  readonly leaseTerm?: () => number | undefined;
  /** Broadcasts what is stored now to other tabs, so that they need not read it: to be given to their `applyAppended()`. It may get lost. */
  readonly broadcast?: (appended: Appended) => void;
  /** Runs it if no other tab is flushing or merging; absent: there is no other. */
  readonly exclusively?: MaintenanceOptions['exclusively'];
  readonly limits?: Partial<PackedLimits>;
}

export interface WarmingOptions {
  /** Of blocks in memory, warmed or not; absent: three quarters of what is cached at most. */
  readonly bytesMax?: number;
  /** Resolves when there is time for a read: a turn of the event loop, or more. */
  readonly idle: () => Promise<void>;
  /** Asked before each read. */
  readonly isStopped?: () => boolean;
}

/** About so many bytes. */
export interface PackedMemory {
  readonly blocks: number;
  /** Fences and filters. */
  readonly indexes: number;
  readonly memtables: number;
}

const CACHE_BYTES_MAX = 32 * 1024 * 1024;
/** Of the cache: what queries read beside it evicts nothing for a while. */
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

  /** @throws Refusal `local_data_loss` when the log is damaged, or gone */
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

  /** Another tab of the same database has appended this; late, twice or never is as good. */
  applyAppended(appended: Appended): void {
    if (!this.isClosed) this.tree.applyAppended(appended);
  }

  /**
   * Reads blocks that nobody has asked for yet, about 1 MB at a time and never while somebody waits for the store. Resolves when
   * enough is in memory or all is; to be called after opening.
   */
  warm({ bytesMax = Infinity, idle, isStopped = () => false }: WarmingOptions): Promise<void> {
    return warm(this.tree, {
      bytesMax: Math.min(bytesMax, this.cacheBytesMax * WARMED_MAX),
      idle: async () => {
        await idle();
        await this.foreground.whenIdle();
      },
      isStopped: () => this.isClosed || isStopped(),
    });
  }

  /** Moves what is in memory and log into tables; to be called when there is time. */
  async flush(): Promise<void> {
    await this.maintenance.flush();
  }

  /** The same if there is enough to be worth it. */
  async maybeFlush(): Promise<void> {
    await this.maintenance.maybeFlush();
  }

  /** Deletes blocks that no table has now; by itself it does so now and then. */
  async sweep(): Promise<void> {
    await this.maintenance.sweep();
  }

  /** A sentence for each thing that is damaged or does not fit; none: all is well. */
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

  /** Of the log, as far as this tab knows it. */
  get lastNumber(): number {
    return this.tree.version.number;
  }

  /** Bytes in memory. */
  get memory(): PackedMemory {
    const { cache, version } = this.tree;
    return {
      blocks: cache.blockBytes,
      indexes: cache.indexBytes,
      memtables: memtableBytes(version),
    };
  }

  /** Resolves when no flush and no merge is under way. */
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
    if (this.isClosed)
      throw new Refusal('storage_unavailable', 'This database is closed. Open it again.');
  }
}

const ANY_BLOCK = { first: 1, last: Number.MAX_SAFE_INTEGER, limit: 1 };

/** A claim comes before the blocks of its writer, and the last record is never cut. Read together: another tab may have begun meanwhile. */
async function requireNew(medium: Medium): Promise<void> {
  const { log, blocks } = await medium.read(0, [ANY_BLOCK]);
  if (log.length === 0 && blocks[0]?.length) throw damaged('log record 1', 'it is missing');
}
