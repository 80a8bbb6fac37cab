/** How full the storage of this site is, and a warning before writes fail with `quota_exceeded`. */
import { DATA_LIMITS } from '../limits.ts';
import { DataError, requireKnown } from './data-error.ts';
import { hasRoomFor, isMadeUp } from './room.ts';

export interface StorageUse {
  /** Of everything that this site stores, about. */
  readonly usageBytes: number;
  /** What the browser lets it store at most, about. */
  readonly quotaBytes: number;
  /** Whether the browser has promised not to evict it. */
  readonly isPersistent: boolean;
}

/** `threshold`: the part of the quota, of those that are warned of, that is exceeded. */
export interface StorageWarning extends StorageUse {
  readonly threshold: number;
}

/** The part of a browser that this needs: `navigator.storage`. */
export type StorageEstimates = Pick<StorageManager, 'estimate' | 'persisted'> &
  Partial<Pick<StorageManager, 'getDirectory'>>;

/**
 * Undefined: this browser gives no estimate.
 * @example
 * const use = await storageUse();
 * if (use) console.log(`${use.usageBytes} of ${use.quotaBytes} bytes`);
 */
export async function storageUse(
  storage: StorageEstimates | undefined = browserStorage(),
): Promise<StorageUse | undefined> {
  if (!storage?.estimate) return undefined;
  // Private windows may refuse both.
  const { usage, quota }: StorageEstimate = await storage.estimate().catch(() => ({}));
  if (usage === undefined || !quota) return undefined;
  const isPersistent = await storage.persisted().catch(() => false);
  return { usageBytes: usage, quotaBytes: quota, isPersistent };
}

const browserStorage = (): StorageEstimates | undefined =>
  (globalThis.navigator as { readonly storage?: StorageEstimates } | undefined)?.storage;

export interface StorageWatchOptions {
  /** Called when a threshold is exceeded, once until usage is below it again. */
  readonly onWarning: (warning: StorageWarning) => void;
  /** Parts of the quota, ascending; 0.8, 0.9 and 0.95 by default. */
  readonly thresholds?: readonly number[];
  /** That of the browser, by default. */
  readonly storage?: StorageEstimates;
}

const OPTIONS = ['onWarning', 'thresholds', 'storage'] satisfies (keyof StorageWatchOptions)[];

/**
 * Looks at the usage now, and then every few minutes, more often near a threshold, while the page is visible.
 * @returns what ends it
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
  if (typeof onWarning !== 'function' || !Array.isArray(thresholds))
    throw new DataError(
      'invalid_option',
      '`onWarning` must be a function, and `thresholds` an array.',
    );
  const watch = new StorageWatch(options, thresholds);
  watch.start();
  return () => watch.stop();
}

class StorageWatch {
  private readonly options: StorageWatchOptions;
  private readonly thresholds: readonly number[];
  /** The highest threshold that a warning was given for; 0: usage is below all. */
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
    // A page that becomes visible again looks at once.
    if (!isHidden()) this.timer = setTimeout(() => void this.look(), this.waitMs(part));
    // Last: what it calls may throw.
    if (use) this.warn(use, part);
  }

  /** Where the reported quota is not the one that is enforced, that one is found by asking for room, as far as thresholds need it. */
  private async use(): Promise<StorageUse | undefined> {
    const storage = this.options.storage ?? browserStorage();
    const use = await storageUse(storage);
    if (!storage || !use || !isMadeUp(use.usageBytes, use.quotaBytes)) return use;
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

/** None in Node and in workers. */
const page = (): Document | undefined => globalThis.document;
const isHidden = (): boolean => page()?.hidden === true;
