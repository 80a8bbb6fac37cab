/** Flushes and merges, beside the transactions and never in their way. */
import { ALL_FAMILIES } from './families.ts';
import type { Manifest } from './manifest.ts';
import { flush, type MaintenanceContext } from './tree/flush.ts';
import { mergeOnce } from './tree/merge.ts';
import { sweep } from './tree/sweep.ts';
import { memtableBytes } from './tree/version.ts';

export interface MaintenanceOptions extends MaintenanceContext {
  /** Runs it if no other tab is at it; a lock that only saves work. */
  readonly exclusively: (body: () => Promise<void>) => Promise<void>;
  /** It failed. What is stored is whole, and it begins again with a later commit. */
  readonly onFailure: (reason: unknown) => void;
}

/** Writers wait when the memtable has grown to so many times what it should be; */
const BEHIND = 4;
/** and before that a little after each write, once it has grown to so many times that, */
const FLUSHES_LATE = 1.5;
/** or once so many times as many young runs as are merged together wait for it. */
const MERGES_LATE = 2;
/** When there is nothing else to do, it is flushed when it is so full. */
const WORTH_IT = 1 / 16;

export class Maintenance {
  private readonly options: MaintenanceOptions;
  private running: Promise<void> | undefined = undefined;
  /** Writers that wait for the next slice. */
  private waiting: (() => void)[] = [];
  /** Slices that are to be done before somebody writes again. */
  private debt = 0;
  private isStopped = false;
  private mustFlush = false;
  private mustSweep = false;

  constructor(options: MaintenanceOptions) {
    this.options = options;
  }

  /** A transaction has brought so many bytes into the memtable. */
  onWritten(bytes: number): void {
    this.debt += (Math.max(0, bytes) / this.options.limits.putBytes) * this.lateness();
    this.begin();
  }

  /** Begins what is due. */
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

  /** What is in the memtable is flushed now, be it little. */
  async flush(): Promise<void> {
    await this.whenIdle();
    this.mustFlush = true;
    this.begin();
    await this.whenIdle();
  }

  /** What is in the memtable is flushed now, if opening the database would be slower for it, or a sweep is due. */
  async maybeFlush(): Promise<void> {
    if (this.isFull(WORTH_IT) || this.isUnswept()) await this.flush();
  }

  /** Deletes what was left by flushes and merges that were cut short. */
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
   * Resolves when there is room in the memtable, or nobody makes any. Who writes more than can be flushed and merged meanwhile is
   * held up a little at each write, by what was written, rather than for long at one of them.
   */
  async throttle(): Promise<void> {
    while (this.running && (this.debt >= 1 || this.isFull(BEHIND)))
      await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Slices for each `putBytes` that are written: 0 while flushes and merges keep up. */
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

  /** Returns false when nothing was left to do. */
  private async step(): Promise<boolean> {
    const { options } = this;
    if (this.mustSweep || this.isUnswept()) {
      this.mustSweep = false;
      await sweep(options);
      return true;
    }
    const hasFlushed = this.mustFlush || this.isFull(1);
    if (hasFlushed) await this.flushNow();
    // After each flush, or runs would pile up under who writes without a rest.
    const hasMerged = await mergeOnce({ ...options, pause: () => this.pauseOfMerge() });
    return hasFlushed || hasMerged;
  }

  private async flushNow(): Promise<void> {
    this.mustFlush = false;
    await flush({ ...this.options, pause: () => this.pause() });
  }

  /** A merge takes long: nobody waits for its end to have room. */
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

  /** Of the memtable: 1 when it is to be flushed. */
  private fullness(): number {
    const { tree, limits } = this.options;
    const commits = tree.version.layers.reduce((sum, layer) => sum + layer.commits.length, 0);
    const bytes = memtableBytes(tree.version);
    return Math.max(bytes / limits.memtableBytesMax, commits / limits.commitsMax);
  }
}

/** Of the family that has most: runs that were flushed and wait to be merged. */
const youngRuns = ({ families }: Manifest): number =>
  Math.max(
    ...ALL_FAMILIES.map(
      (family) =>
        families[family].filter(({ level, isMerging }) => level === 0 && !isMerging).length,
    ),
  );
