import {
  UsageError,
  type Sync,
  type SyncEvents,
  type SyncProgress,
  type SyncState,
  type WriteIn,
  type WriteResolution,
} from '../../index.ts';
import { Cell } from './cell.ts';
import { onceFor } from './once-for.ts';

/** State of the sync between a copy and its hub. */
export interface SyncStatus {
  /** Undefined if there is no sync yet. */
  readonly state: SyncState | undefined;
  /** Why the state changed, if that is known. */
  readonly reason: string | undefined;
  readonly progress: SyncProgress | undefined;
  /** Number of writes without a verdict. */
  readonly pending: number;
  /** Refused writes, until they are resolved. */
  readonly refused: readonly WriteIn<'refused'>[];
  /** Number of writes that were lost together with the database of this device. */
  readonly lostWrites: number;
}

export const NO_SYNC: SyncStatus = {
  state: undefined,
  reason: undefined,
  progress: undefined,
  pending: 0,
  refused: [],
  lostWrites: 0,
};

export const notSynced = (): Promise<never> =>
  Promise.reject(new UsageError('The database does not sync.'));

export class SyncWatch extends Cell<SyncStatus> {
  private readonly sync: Sync;
  private listening: AbortController | undefined = undefined;
  private isDue = false;
  private looking: Promise<void> | undefined = undefined;

  constructor(sync: Sync) {
    super({ ...NO_SYNC, state: sync.state, lostWrites: sync.lostWrites });
    this.sync = sync;
  }

  /** Resolves a refused write: `{ discard: true }`, `{ retry: true }` or `{ edit: query }`. */
  readonly resolve = async (id: string, resolution: WriteResolution): Promise<void> => {
    await this.sync.writes.resolve(id, resolution);
    await this.look();
  };

  protected override onFirst(): void {
    this.listening = new AbortController();
    const { signal } = this.listening;
    const on = <K extends keyof SyncEvents>(
      type: K,
      listener: (event: SyncEvents[K]) => void,
    ): void => this.sync.addEventListener(type, listener, { signal });
    on('state', ({ detail }) => this.change(detail));
    on('progress', ({ detail }) => this.change({ progress: detail, pending: detail.pending }));
    on('verdict', () => void this.look());
    const { state } = this.sync;
    // The reason belongs to the state with which it was reported.
    this.change(state === this.get().state ? {} : { state, reason: undefined });
    void this.look();
  }

  protected override onLast(): void {
    this.listening?.abort();
  }

  private change(change: Partial<SyncStatus>): void {
    this.set({ ...this.get(), lostWrites: this.sync.lostWrites, ...change });
  }

  /** Looks once for all calls that come during a look: thousands of writes may wait, and each has a verdict. */
  private look(): Promise<void> {
    this.isDue = true;
    return (this.looking ??= this.lookWhileDue());
  }

  private async lookWhileDue(): Promise<void> {
    while (this.isDue) {
      this.isDue = false;
      const { progress } = this.get();
      const all = await this.sync.writes
        .list({ states: ['local', 'parked', 'refused'] })
        // If the database is locked or closed, the last lists stay.
        .catch(() => undefined);
      if (!all) continue;
      const refused = all.filter((write) => write.state === 'refused');
      const isNewest = progress === this.get().progress;
      this.change({ refused, ...(isNewest && { pending: all.length - refused.length }) });
      // A progress event during the call may be newer or older than the list, so the list is read again.
      this.isDue ||= !isNewest;
    }
    this.looking = undefined;
  }
}

export const watchOf = onceFor((sync: Sync) => new SyncWatch(sync));
