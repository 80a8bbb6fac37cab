/** Flushes and merges in the background, concurrently with transactions. */
import { ALL_FAMILIES } from './families.ts';
import type { Manifest } from './manifest.ts';
import { flush, type MaintenanceContext } from './tree/flush.ts';
import { mergeOnce } from './tree/merge.ts';
import { sweep } from './tree/sweep.ts';
import { memtableBytes } from './tree/version.ts';

export interface MaintenanceOptions extends MaintenanceContext {
  /**
   * Runs the body if no other tab runs maintenance. The lock only avoids duplicate work; correctness does not depend on
   * it.
   */
  readonly exclusively: (body: () => Promise<void>) => Promise<void>;
  /** Called when maintenance failed. The stored data is intact, and a later commit starts maintenance again. */
  readonly onFailure: (reason: unknown) => void;
}

/** Writes wait while the memtable is larger than this many times its limit. */
const BEHIND = 4;
/** Writes are slowed down once the memtable is larger than this many times its limit, … */
const FLUSHES_LATE = 1.5;
/** … or once more than this many times `runsPerLevel` level-0 runs wait to be merged. */
const MERGES_LATE = 2;
/** When the store is idle, the memtable is flushed if it is fuller than this fraction of its limit. */
const WORTH_IT = 1 / 16;

export class Maintenance {
  private readonly options: MaintenanceOptions;
  private running: Promise<void> | undefined = undefined;
  /** Writers waiting for the next slice to end. */
  private waiting: (() => void)[] = [];
  /** Number of slices that must be done before the next write may continue. */
  private debt = 0;
  private isStopped = false;
  private mustFlush = false;
  private mustSweep = false;

  constructor(options: MaintenanceOptions) {
    this.options = options;
  }

  /** Called when a transaction has added this many bytes to the memtable. */
  onWritten(bytes: number): void {
    this.debt += (Math.max(0, bytes) / this.options.limits.putBytes) * this.lateness();
    this.begin();
  }

  /** Starts maintenance if any is due. */
  begin(): void {
    if (this.running || this.isStopped || !this.isDue()) return;
    this.running = this.run()
      .catch(this.options.onFailure)
      .finally(() => {
        this.running = undefined;
        this.debt = 0;
        this.resumeWriters();
      });
  }

  /** Flushes the memtable now, however small it is. */
  async flush(): Promise<void> {
    await this.whenIdle();
    this.mustFlush = true;
    this.begin();
    await this.whenIdle();
  }

  /** Flushes the memtable now if it is large enough to slow down the next opening, or if a sweep is due. */
  async maybeFlush(): Promise<void> {
    if (this.isFull(WORTH_IT) || this.isUnswept()) await this.flush();
  }

  /** Deletes blocks left behind by interrupted flushes and merges. */
  async sweep(): Promise<void> {
    await this.whenIdle();
    this.mustSweep = true;
    this.begin();
    await this.whenIdle();
  }

  async whenIdle(): Promise<void> {
    await this.running;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  /**
   * Resolves when the memtable has room, or when no maintenance is running. A client that writes faster than
   * maintenance can flush and merge is delayed a little at each write, in proportion to its size, rather than for long
   * at a single one.
   */
  async throttle(): Promise<void> {
    while (this.running && (this.debt >= 1 || this.isFull(BEHIND)))
      await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Slices that each `putBytes` of writes must wait for. 0 while maintenance keeps up. */
  private lateness(): number {
    const { tree, limits } = this.options;
    const runs = youngRuns(tree.version.manifest) / limits.runsPerLevel;
    return Math.max(0, this.fullness() - FLUSHES_LATE, runs - MERGES_LATE);
  }

  private async run(): Promise<void> {
    const { exclusively, tree } = this.options;
    await exclusively(async () => {
      let isBusy = true;
      while (isBusy && !this.isStopped) {
        isBusy = await this.step();
        await tree.loadIndexes();
        await this.pause();
      }
    });
  }

  /** Does one step of maintenance. Returns false when there was nothing to do. */
  private async step(): Promise<boolean> {
    const { options } = this;
    if (this.mustSweep || this.isUnswept()) {
      this.mustSweep = false;
      await sweep(options);
      return true;
    }
    const hasFlushed = this.mustFlush || this.isFull(1);
    if (hasFlushed) await this.flushNow();
    // Merges after each flush. Otherwise runs would pile up while a client writes without a pause.
    const hasMerged = await mergeOnce({ ...options, pause: () => this.pauseOfMerge() });
    return hasFlushed || hasMerged;
  }

  private async flushNow(): Promise<void> {
    this.mustFlush = false;
    await flush({ ...this.options, pause: () => this.pause() });
  }

  /** A merge takes long. If the memtable becomes full during a merge, it is flushed at once rather than after it. */
  private async pauseOfMerge(): Promise<void> {
    await this.pause();
    if (this.isFull(1) && !this.isStopped) await this.flushNow();
  }

  private async pause(): Promise<void> {
    this.debt = Math.max(0, this.debt - 1);
    this.resumeWriters();
    await this.options.pause();
  }

  private resumeWriters(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const goOn of waiting) goOn();
  }

  private isDue(): boolean {
    return this.mustFlush || this.mustSweep || this.isFull(1);
  }

  private isUnswept(): boolean {
    const { tree, limits } = this.options;
    return tree.version.number - tree.version.manifest.swept > limits.unsweptMax;
  }

  private isFull(times: number): boolean {
    return this.fullness() > times;
  }

  /** How full the memtable is. At 1 it is due to be flushed. */
  private fullness(): number {
    const { tree, limits } = this.options;
    const commits = tree.version.layers.reduce(
      (sum, layer) => sum + (layer.commits?.count ?? 0),
      0,
    );
    const bytes = memtableBytes(tree.version);
    return Math.max(bytes / limits.memtableBytesMax, commits / limits.commitsMax);
  }
}

/** The number of level-0 runs that wait to be merged, in the family that has most of them. */
const youngRuns = ({ families }: Manifest): number =>
  Math.max(
    ...ALL_FAMILIES.map(
      (family) =>
        families[family].filter(({ level, isMerging }) => level === 0 && !isMerging).length,
    ),
  );
