/** Reports the state and the progress of a syncer. */
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { SyncRefusal } from '../../protocol/refusals.ts';
import { Fenced } from '../state/fence.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import type { FenceHolder } from './fence-holder.ts';
import type { SyncerOptions } from './syncer-options.ts';
import type { SyncState } from '../../../states.ts';
import type { Micros } from '../../../values/value.ts';

type Options = Pick<SyncerOptions, 'replica' | 'clock' | 'events'>;

export class ProgressReporter {
  private readonly options: Options;
  private readonly holder: FenceHolder;
  private current: SyncState = 'connecting';
  private bytes = 0;
  /** When the sets began to load, µs, and how many documents were loaded then. */
  private begun: { readonly at: Micros; readonly rows: number } | undefined = undefined;

  constructor(options: Options, holder: FenceHolder) {
    this.options = options;
    this.holder = holder;
  }

  get state(): SyncState {
    return this.current;
  }

  setState(state: SyncState, reason?: SyncRefusal): void {
    if (state === this.current && !reason) return;
    this.current = state;
    this.options.events.onState(state, reason);
  }

  countBytes(bytes: number): void {
    this.bytes += bytes;
  }

  async report({ sets, lastSeq, settledSeq, skew }: ReplicaState): Promise<void> {
    const { replica, clock, events } = this.options;
    const pending = lastSeq - settledSeq;
    const [oldest] = pending > 0 ? await replica.outgoing({ count: 1, chars: 1 }) : [];
    events.onProgress({
      sets: sets.map(({ query, rows, of, error }) => ({ query, rows, of, error })),
      bytes: this.bytes,
      remainingMs: this.remainingMs(sets),
      pending,
      oldestPendingMs: oldest ? Math.max(0, (clock() + skew - oldest.now) / 1000) : 0,
    });
  }

  /** Estimated from the speed so far. */
  private remainingMs(sets: ReplicaState['sets']): number | undefined {
    const loading = sets.filter((set) => !isLoaded(set));
    if (loading.length === 0) {
      this.begun = undefined;
      return undefined;
    }
    if (loading.some(({ of }) => of === undefined)) return undefined;
    const at = this.options.clock();
    const rows = sum(loading.map((set) => set.rows));
    const { begun } = this;
    if (!begun || rows < begun.rows) this.begun = { at, rows };
    if (!begun || rows <= begun.rows) return undefined;
    const left = sum(loading.map((set) => Math.max(0, (set.of ?? 0) - set.rows)));
    return Math.round(((at - begun.at) * left) / (rows - begun.rows) / 1000);
  }

  /** Never rejects, for callers that do not wait for it. */
  async reportNow(): Promise<void> {
    try {
      await this.report(await this.holder.state());
    } catch (reason) {
      if (!(reason instanceof Fenced)) this.options.events.onFault(reason);
    }
  }
}

const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);
