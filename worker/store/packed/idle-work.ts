/**
 * Background work of a packed store while it is idle: blocks are prefetched before their first use, the log is flushed so that the next
 * open is fast, and leftovers of interrupted flushes are deleted.
 */
import { Refusal } from '../../../src/errors.ts';
import type { PackedStore } from '../../../src/packed/packed-store.ts';
import { deviceMemory, isSmallDevice, savesData } from '../../browser/device.ts';
import { pause } from '../../browser/pause.ts';

const IDLE_MS = 2_000;
/** The first queries of an app arrive immediately after opening. */
const WARM_AFTER_MS = 500;
/** Queries come in series: while they do, there is only one read in this time, so that few of them wait for one. */
const WARM_REST_MS = 50;
const SMALL_DEVICE_BYTES = 8 * 1024 * 1024;
/** Memory in GB. Devices that do not report their memory count as smaller. */
const LARGE_DEVICE = 8;
/** With this cache size, a worker that has read all of a million documents uses about 120 MB more than an empty one. */
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

  /** The log may be long: it is flushed so that the next open need not read it again. */
  onOpened(): void {
    this.warmTimer ??= setTimeout(this.warm, Math.min(WARM_AFTER_MS, this.idleMs));
    this.timer ??= setTimeout(this.check, this.idleMs);
  }

  onWrite(): void {
    this.lastWrite = performance.now();
    this.timer ??= setTimeout(this.check, this.idleMs);
  }

  /** A flush or a merge failed. It is retried after a later commit. */
  onFailure(reason: unknown): void {
    // A refusal of the browser need not be reported here: the next write gets it too.
    if (this.isClosed || (reason instanceof Refusal && reason.code !== 'local_data_loss')) return;
    // Not `reportError`, because its error event ends the worker.
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
    const idle = (isBusy: boolean): Promise<void> => (isBusy ? rest() : pause());
    const isStopped = (): boolean => this.isClosed;
    if (bytesMax > 0)
      this.packed
        .warm({ bytesMax, idle, isStopped })
        .catch((reason: unknown) => this.onFailure(reason));
  };

  private readonly check = (): void => {
    const rested = performance.now() - this.lastWrite;
    this.timer = undefined;
    if (rested < this.idleMs) this.timer = setTimeout(this.check, this.idleMs - rested);
    else void this.maybeFlush();
  };
}

const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, WARM_REST_MS));

/** Limit for the block cache, in bytes. Undefined: the store's default. */
export const cachedBytesMax = (): number | undefined =>
  (deviceMemory() ?? 0) >= LARGE_DEVICE ? LARGE_DEVICE_BYTES : undefined;

/** How many bytes of blocks to prefetch. */
function warmedBytesMax(): number {
  if (savesData()) return 0;
  return isSmallDevice() ? SMALL_DEVICE_BYTES : Infinity;
}
