/** What a syncer tells: in which state it is, and how far it has come. */
import type { SyncRefusal } from '../../protocol/refusals.ts';
import { Fenced, type ReplicaState } from '../state/api.ts';
import type { SyncerOptions, SyncState } from './syncer-options.ts';
import type { Tenure } from './fence-holder.ts';

export class Telling {
  private readonly options: Pick<SyncerOptions, 'replica' | 'clock' | 'events'>;
  private readonly tenure: Tenure;
  private current: SyncState = 'connecting';
  private bytes = 0;

  constructor(options: Pick<SyncerOptions, 'replica' | 'clock' | 'events'>, tenure: Tenure) {
    this.options = options;
    this.tenure = tenure;
  }

  get state(): SyncState {
    return this.current;
  }

  enter(state: SyncState, reason?: SyncRefusal): void {
    if (state === this.current && !reason) return;
    this.current = state;
    this.options.events.onState(state, reason);
  }

  countBytes(bytes: number): void {
    this.bytes += bytes;
  }

  async tellProgress({ sets, lastSeq, settledSeq, skew }: ReplicaState): Promise<void> {
    const { replica, clock, events } = this.options;
    const pending = lastSeq - settledSeq;
    const [oldest] = pending > 0 ? await replica.outgoing({ count: 1, bytes: 1 }) : [];
    events.onProgress({
      sets: sets.map(({ id, rows, of, error }) => ({ id, rows, of, error })),
      bytes: this.bytes,
      pending,
      oldestPendingMs: oldest ? Math.max(0, (clock() + skew - oldest.now) / 1000) : 0,
    });
  }

  /** For those who do not wait for it. */
  async announce(): Promise<void> {
    try {
      await this.tellProgress(await this.tenure.state());
    } catch (reason) {
      if (!(reason instanceof Fenced)) this.options.events.onFault(reason);
    }
  }
}
