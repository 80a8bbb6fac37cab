/** Flushes and merges, beside the transactions and never in their way. */
import { flush, type MaintenanceContext } from './tree/flush.ts';
import { mergeOnce } from './tree/merge.ts';
import { sweep } from './tree/sweep.ts';

export interface MaintenanceOptions extends MaintenanceContext {
  /** Runs it if no other tab is at it; a lock that only saves work. */
  readonly exclusively: (body: () => Promise<void>) => Promise<void>;
  /** It failed. What is stored is whole, and it begins again with a later commit. */
  readonly onFailure: (reason: unknown) => void;
}

/** Writers wait when the memtable has grown to so many times what it should be. */
const BEHIND = 4;
/** When there is nothing else to do, it is flushed when it is so full. */
const WORTH_IT = 1 / 16;

export class Maintenance {
  private readonly options: MaintenanceOptions;
  private running: Promise<void> | undefined = undefined;
  /** Writers that wait for room. */
  private waiting: (() => void)[] = [];
  private isStopped = false;
  private mustFlush = false;
  private mustSweep = false;

  constructor(options: MaintenanceOptions) {
    this.options = options;
  }

  /** Begins what is due. */
  begin(): void {
    if (this.running || this.isStopped || !this.isDue()) return;
    this.running = this.run()
      .catch(this.options.onFailure)
      .finally(() => {
        this.running = undefined;
        this.letGoOn();
      });
  }

  /** What is in the memtable is flushed now, be it little. */
  async flush(): Promise<void> {
    await this.ended();
    this.mustFlush = true;
    this.begin();
    await this.ended();
  }

  /** What is in the memtable is flushed now, if opening the database would be slower for it. */
  async rest(): Promise<void> {
    if (this.isFull(WORTH_IT)) await this.flush();
  }

  /** Deletes what was left by flushes and merges that were cut short. */
  async sweep(): Promise<void> {
    await this.ended();
    this.mustSweep = true;
    this.begin();
    await this.ended();
  }

  async ended(): Promise<void> {
    await this.running;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  /** Resolves when there is room in the memtable, or nobody makes any. */
  async room(): Promise<void> {
    while (this.running && this.isFull(BEHIND))
      await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private async run(): Promise<void> {
    await this.options.exclusively(async () => {
      let isBusy = true;
      while (isBusy && !this.isStopped) {
        isBusy = await this.step();
        await this.options.tree.loadIndexes();
        this.letGoOn();
        await this.options.pause();
      }
    });
  }

  /** Returns false when nothing was left to do. */
  private async step(): Promise<boolean> {
    if (this.mustFlush || this.isFull(1)) {
      this.mustFlush = false;
      await flush(this.options);
      return true;
    }
    if (!this.mustSweep) return mergeOnce(this.options);
    this.mustSweep = false;
    await sweep(this.options);
    return true;
  }

  private letGoOn(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const goOn of waiting) goOn();
  }

  private isDue(): boolean {
    return this.mustFlush || this.mustSweep || this.isFull(1);
  }

  private isFull(times: number): boolean {
    const { tree, limits } = this.options;
    let bytes = 0;
    let commits = 0;
    for (const layer of tree.version.layers) {
      bytes += layer.memtable.bytes;
      commits += layer.commits.length;
    }
    return bytes > times * limits.memtableBytesMax || commits > times * limits.commitsMax;
  }
}
