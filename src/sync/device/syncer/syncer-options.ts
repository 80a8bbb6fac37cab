/** The options of a syncer, and the events it reports. */
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
  /** Characters of stored documents received since the syncer started. */
  readonly bytes: number;
  /** Estimated time until all sets are loaded, ms. Undefined: none is loading, or there is no estimate yet. */
  readonly remainingMs: number | undefined;
  /** Number of writes without a verdict, and how long the oldest of them has waited, ms. */
  readonly pending: number;
  readonly oldestPendingMs: number;
}

export interface SyncerEvents {
  onState(state: SyncState, reason: SyncRefusal | undefined): void;
  onVerdict(record: WriteRecord): void;
  /** Documents that refer to these files have come, so the hub may have the files now. */
  onFiles(files: readonly string[]): void;
  onProgress(progress: ReplicaProgress): void;
  /** The sets with these ids show the hub's data as of `since` (by `wallClock`, ms) or later. `isWhole`: all sets do. */
  onRound(since: number, loaded: readonly string[], isWhole: boolean): void;
  /** Another tab has taken over the sync. */
  onSuperseded(): void;
  /** An unexpected error, to be logged. */
  onFault(reason: unknown): void;
}

export interface SyncerOptions {
  readonly replica: Replica;
  readonly transport: Transport;
  readonly clock: () => Micros;
  /** ms since the Unix epoch; equal in all tabs of the copy. */
  readonly wallClock: () => number;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  /** Resolves after this many ms, or when the signal is raised. */
  readonly wait: (ms: number, signal: Signal) => Promise<void>;
  readonly events: SyncerEvents;
  /** Time between pulls without a hint, ms: while the syncer listens for hints, and while it cannot. */
  readonly pollMs?: { readonly listening: number; readonly notListening: number };
}
