/**
 * What a packed store does while nobody needs it: it reads ahead of the first use, a short log opens fast, and what was left by
 * flushes cut short is deleted.
 */
import { Refusal } from '../../../src/errors.ts';
import type { PackedStore } from '../../../src/packed/packed-store.ts';
import { deviceMemory, isSmallDevice, savesData } from '../../browser/device.ts';
import { pause } from '../../browser/pause.ts';

const IDLE_MS = 2_000;
/** The first queries of an app come at once. */
const WARM_AFTER_MS = 500;
const SMALL_DEVICE_BYTES = 8 * 1024 * 1024;
/** Those that report no size count as less. */
const LARGE_DEVICE = 8;
/** With it a worker that has read all over a million documents keeps about 120 MB more than an empty one. */
const LARGE_DEVICE_BYTES = 56 * 1024 * 1024;

type Upkeep = Pick<PackedStore, 'maybeFlush' | 'warm'>;

export class IdleWork {
  private readonly packed: Upkeep;
  private readonly idleMs: number;
  private timer: ReturnType<typeof setTimeout> | undefined = undefined;
  private warmTimer: ReturnType<typeof setTimeout> | undefined = undefined;
  private lastWrite = -Infinity;
  private isClosed = false;

  constructor(packed: Upkeep, idleMs = IDLE_MS) {
    this.packed = packed;
    this.idleMs = idleMs;
  }

  /** The log that was found may be long: whoever opens next need not read it again. */
  onOpened(): void {
    this.warmTimer ??= setTimeout(this.warm, Math.min(WARM_AFTER_MS, this.idleMs));
    this.timer ??= setTimeout(this.check, this.idleMs);
  }

  onWrite(): void {
    this.lastWrite = performance.now();
    this.timer ??= setTimeout(this.check, this.idleMs);
  }

  /** A flush or a merge failed; it begins again with a later commit. */
  onFailure(reason: unknown): void {
    // What the browser refuses now, it refuses whoever writes, too.
    if (this.isClosed || (reason instanceof Refusal && reason.code !== 'local_data_loss')) return;
    // Not `reportError`: that ends the worker.
    console.error('Burrow:', reason);
  }

  async maybeFlush(): Promise<void> {
    if (!this.isClosed)
      await this.packed.maybeFlush().catch((reason: unknown) => this.onFailure(reason));
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    clearTimeout(this.warmTimer);
  }

  private readonly warm = (): void => {
    const bytesMax = warmedBytesMax();
    const isStopped = (): boolean => this.isClosed;
    if (bytesMax > 0)
      this.packed
        .warm({ bytesMax, idle: pause, isStopped })
        .catch((reason: unknown) => this.onFailure(reason));
  };

  private readonly check = (): void => {
    const rested = performance.now() - this.lastWrite;
    this.timer = undefined;
    if (rested < this.idleMs) this.timer = setTimeout(this.check, this.idleMs - rested);
    else void this.maybeFlush();
  };
}

/** Of blocks in memory. Undefined: as many as the store has by itself. */
export const cachedBytesMax = (): number | undefined =>
  (deviceMemory() ?? 0) >= LARGE_DEVICE ? LARGE_DEVICE_BYTES : undefined;

/** Of blocks in memory before anybody asks for them. */
function warmedBytesMax(): number {
  if (savesData()) return 0;
  return isSmallDevice() ? SMALL_DEVICE_BYTES : Infinity;
}
