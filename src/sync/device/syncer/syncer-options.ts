/** What a syncer is given, and the events it reports. */
import type { Micros } from '../../../values/value.ts';
import type { SyncState } from '../../../states.ts';
import type { SyncRefusal } from '../../protocol/refusals.ts';
import type { Replica } from '../replica/replica.ts';
import type { WriteRecord } from '../state/outbox-record.ts';
import type { KeptSet } from '../state/replica-state.ts';
import type { Signal } from './signal.ts';
import type { Transport } from './transport.ts';

export interface ReplicaProgress {
  readonly sets: readonly Pick<KeptSet, 'query' | 'rows' | 'of' | 'error'>[];
  /** Characters of stored documents that came since the syncer began. */
  readonly bytes: number;
  /** Until all sets are loaded, at the pace so far; undefined: none is loading, or it cannot be told yet. */
  readonly remainingMs: number | undefined;
  /** Writes without a verdict, and how long the oldest of them has waited. */
  readonly pending: number;
  readonly oldestPendingMs: number;
}

export interface SyncerEvents {
  onState(state: SyncState, reason: SyncRefusal | undefined): void;
  onVerdict(record: WriteRecord): void;
  /** The hub may have these files since: documents that refer to them came. */
  onFiles(files: readonly string[]): void;
  onProgress(progress: ReplicaProgress): void;
  /** These sets, by id, show what the hub had at this time of `wallClock`, ms, or later. `isWhole`: so do all sets. */
  onRound(since: number, loaded: readonly string[], isWhole: boolean): void;
  /** Another tab has taken over the sync. */
  onSuperseded(): void;
  /** An unexpected error, for a log. */
  onFault(reason: unknown): void;
}

export interface SyncerOptions {
  readonly replica: Replica;
  readonly transport: Transport;
  readonly clock: () => Micros;
  /** ms; the same in all tabs of the copy. */
  readonly wallClock: () => number;
  /** 0 to below 1. */
  readonly random: () => number;
  /** Resolves after so many ms, or when the signal is raised. */
  readonly wait: (ms: number, signal: Signal) => Promise<void>;
  readonly events: SyncerEvents;
  /** How often to pull without a hint, ms: while the syncer listens for hints, and while it cannot. */
  readonly pollMs?: { readonly listening: number; readonly notListening: number };
}
