/** Measures how full the storage of this site is, and warns before writes fail with `quota_exceeded`. */
import { DATA_LIMITS } from '../limits.ts';
import { DataError, requireKnown } from './data-error.ts';
import { hasRoomFor, isSyntheticQuota } from './room.ts';

export interface StorageUse {
  /** Approximate size of everything that this site stores. */
  readonly usageBytes: number;
  /** Approximate size that the browser lets this site store. */
  readonly quotaBytes: number;
  /** Whether the browser has promised not to evict the data. */
  readonly isPersistent: boolean;
}

/** `threshold`: the threshold that is exceeded, as a fraction of the quota. */
export interface StorageWarning extends StorageUse {
  readonly threshold: number;
}

/** The part of `navigator.storage` that is used here. */
export type StorageEstimates = Pick<StorageManager, 'estimate' | 'persisted'> &
  Partial<Pick<StorageManager, 'getDirectory'>>;

/**
 * Returns how much of the quota is used; undefined if this browser gives no estimate.
 * @example
 * const use = await storageUse();
 * if (use) console.log(`${use.usageBytes} of ${use.quotaBytes} bytes`);
 */
export async function storageUse(
  storage: StorageEstimates | undefined = browserStorage(),
): Promise<StorageUse | undefined> {
  if (!storage?.estimate) return undefined;
  // In private windows, both calls may fail.
  const { usage, quota }: StorageEstimate = await storage.estimate().catch(() => ({}));
  if (usage === undefined || !quota) return undefined;
  const isPersistent = await storage.persisted().catch(() => false);
  return { usageBytes: usage, quotaBytes: quota, isPersistent };
}

const browserStorage = (): StorageEstimates | undefined =>
  (globalThis.navigator as { readonly storage?: StorageEstimates } | undefined)?.storage;

export interface StorageWatchOptions {
  /** Called when a threshold is exceeded: once, until usage has fallen below the threshold again. */
  readonly onWarning: (warning: StorageWarning) => void;
  /** Fractions of the quota, ascending; by default 0.8, 0.9 and 0.95. */
  readonly thresholds?: readonly number[];
  /** By default, the storage of the browser. */
  readonly storage?: StorageEstimates;
}

const OPTIONS = ['onWarning', 'thresholds', 'storage'] satisfies (keyof StorageWatchOptions)[];

/**
 * Checks the usage now, and then every few minutes while the page is visible, more often near a threshold.
 * @returns a function that ends this
 * @throws DataError `invalid_option`
 * @example
 * const stop = watchStorage({
 *   onWarning: ({ usageBytes, quotaBytes }) => console.log(`${quotaBytes - usageBytes} bytes are left.`),
 * });
 * stop();
 */
export function watchStorage(options: StorageWatchOptions): () => void {
  requireKnown(options, OPTIONS);
  const { onWarning, thresholds = DATA_LIMITS.storageWarnings } = options;
  const isFraction = (each: unknown): boolean => typeof each === 'number' && each > 0 && each <= 1;
  const areFractions = Array.isArray(thresholds) && thresholds.every(isFraction);
  if (typeof onWarning !== 'function' || !areFractions)
    throw new DataError(
      'invalid_option',
      '`onWarning` must be a function, and `thresholds` an array of fractions: 0.9 for 90 %.',
    );
  const watch = new StorageWatch(options, thresholds);
  watch.start();
  return () => watch.stop();
}

class StorageWatch {
  private readonly options: StorageWatchOptions;
  private readonly thresholds: readonly number[];
  /** The highest threshold for which a warning was given; 0 if usage is below all thresholds. */
  private warned = 0;
  private timer: ReturnType<typeof setTimeout> | undefined = undefined;
  private isStopped = false;
  private isLooking = false;

  constructor(options: StorageWatchOptions, thresholds: readonly number[]) {
    this.options = options;
    this.thresholds = thresholds;
  }

  start(): void {
    page()?.addEventListener('visibilitychange', this.onVisible);
    void this.look();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    page()?.removeEventListener('visibilitychange', this.onVisible);
  }

  private readonly onVisible = (): void => {
    if (!isHidden()) void this.look();
  };

  private async look(): Promise<void> {
    if (this.isLooking || this.isStopped) return;
    this.isLooking = true;
    clearTimeout(this.timer);
    // A browser that gives no estimate now may give one later.
    const use = await this.use().catch(() => undefined);
    this.isLooking = false;
    if (this.isStopped) return;
    const part = use ? use.usageBytes / use.quotaBytes : 0;
    // A hidden page needs no timer: it looks at once when it becomes visible.
    if (!isHidden()) this.timer = setTimeout(() => void this.look(), this.waitMs(part));
    // Comes last, because `onWarning` may throw.
    if (use) this.warn(use, part);
  }

  /** If the reported quota is made up, finds the real one by asking for space, as precisely as the thresholds need it. */
  private async use(): Promise<StorageUse | undefined> {
    const storage = this.options.storage ?? browserStorage();
    const use = await storageUse(storage);
    if (!storage || !use || !isSyntheticQuota(use.usageBytes, use.quotaBytes)) return use;
    const { usageBytes } = use;
    const near = (this.thresholds[0] ?? 1) - DATA_LIMITS.storageNear;
    let found = use;
    for (const part of [near, ...this.thresholds]) {
      if (part <= 0) continue;
      const quotaBytes = Math.floor(usageBytes / part);
      if (await hasRoomFor(storage, quotaBytes - usageBytes)) break;
      found = { ...use, quotaBytes };
    }
    return found;
  }

  private warn(use: StorageUse, part: number): void {
    const threshold = this.thresholds.findLast((each) => part >= each) ?? 0;
    const isHigher = threshold > this.warned;
    this.warned = threshold;
    if (isHigher) this.options.onWarning({ ...use, threshold });
  }

  private waitMs(part: number): number {
    const first = this.thresholds[0] ?? 1;
    return part >= first - DATA_LIMITS.storageNear
      ? DATA_LIMITS.storageNearMs
      : DATA_LIMITS.storageFarMs;
  }
}

/** Undefined in Node and in workers. */
const page = (): Document | undefined => globalThis.document;
const isHidden = (): boolean => page()?.hidden === true;
