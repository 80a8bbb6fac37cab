/** Reports the state of a syncer, and its progress. */
import type { SyncRefusal } from '../../protocol/refusals.ts';
import { Fenced } from '../state/fence.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import type { FenceHolder } from './fence-holder.ts';
import type { SyncerOptions } from './syncer-options.ts';
import type { SyncState } from '../../../states.ts';

type Options = Pick<SyncerOptions, 'replica' | 'clock' | 'events'>;

export class ProgressReporter {
  private readonly options: Options;
  private readonly holder: FenceHolder;
  private current: SyncState = 'connecting';
  private bytes = 0;

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
      sets: sets.map(({ id, rows, of, error }) => ({ id, rows, of, error })),
      bytes: this.bytes,
      pending,
      oldestPendingMs: oldest ? Math.max(0, (clock() + skew - oldest.now) / 1000) : 0,
    });
  }

  /** Never rejects: for callers that do not wait. */
  async reportNow(): Promise<void> {
    try {
      await this.report(await this.holder.state());
    } catch (reason) {
      if (!(reason instanceof Fenced)) this.options.events.onFault(reason);
    }
  }
}
