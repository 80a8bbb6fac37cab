/** What a syncer is given, and what it tells. */
import type { Micros } from '../../../values/value.ts';
import type { SyncRefusal } from '../../protocol/refusals.ts';
import type { Replica, ReplicaSet, WriteRecord } from '../state/api.ts';
import type { Signal } from './signal.ts';
import type { Transport } from './transport.ts';

export type SyncState =
  | 'connecting'
  | 'catching-up'
  | 'live'
  | 'offline'
  | 'needs-login'
  | 'locked';

export interface SyncProgress {
  readonly sets: readonly Pick<ReplicaSet, 'id' | 'rows' | 'of' | 'error'>[];
  /** Stored text that came since the syncer began. */
  readonly bytes: number;
  /** Writes without a verdict, and how long the oldest of them has waited, ms. */
  readonly pending: number;
  readonly oldestPendingMs: number;
}

export interface SyncerEvents {
  onState(state: SyncState, reason: SyncRefusal | undefined): void;
  onVerdict(record: WriteRecord): void;
  onProgress(progress: SyncProgress): void;
  /** What is shown of these sets, by id, is what the hub had at this time of `wallClock`, ms, or later. `isWhole`: of all sets. */
  onRound(since: number, loaded: readonly string[], isWhole: boolean): void;
  /** Another tab has taken over the sync. */
  onSuperseded(): void;
  /** What should not have happened: for a log. */
  onFault(reason: unknown): void;
}

export interface SyncerOptions {
  readonly replica: Replica;
  readonly transport: Transport;
  readonly clock: () => Micros;
  /** ms; the same in all tabs of the copy. */
  readonly wallClock: () => number;
  /** 0 to below 1. */
  readonly chance: () => number;
  /** Resolves after so many ms, or when the signal says so. */
  readonly wait: (ms: number, signal: Signal) => Promise<void>;
  readonly events: SyncerEvents;
  /** Longest time without a look at the hub, ms, while hints come, and while they do not. */
  readonly pollMs?: { readonly listening: number; readonly deaf: number };
}
