/** A write of a push, with what the hub needs to judge it. */
import type { Line } from '../../../engine/host.ts';
import type { Transactions } from '../../../engine/engine.ts';
import type { DatabaseId } from '../../../values/value.ts';
import type { DeviceId, Epoch } from '../../protocol/identifiers.ts';
import type { AnswerOf } from '../../protocol/messages.ts';
import type { SyncRefusal } from '../../protocol/refusals.ts';
import type { PushItem } from '../../protocol/writes.ts';
import type { CallerHost, DeviceRequest } from '../rights/device-caller.ts';
import type { FailedWrites } from './failed-writes.ts';

export interface OfferedWrite {
  readonly item: PushItem;
  /** Hash of the previous write in the same push, on which this write was made. */
  readonly previous: string | undefined;
  readonly device: DeviceId;
  readonly epoch: Epoch;
  readonly database: DatabaseId;
  readonly owner: string;
  /** The device has stored the verdicts up to this number. */
  readonly settled: number;
  readonly request: DeviceRequest;
}

/** Executes long pushes elsewhere on the same store, so that they do not block other requests. */
export interface LongPushes {
  /** Maximum time for which a write may be evaluated in this process, ms. */
  turnMs(secret: string): number;
  /** The line in which the writes of this caller wait, for fairness among callers. */
  lineOf(secret: string): Line;
  /** Processes the push from its start. @throws Refusal */
  execute(secret: string, message: unknown): Promise<AnswerOf<'push'> | SyncRefusal>;
}

/** For hubs that execute writes in a thread that a write may crash. */
export interface WatchedWrites {
  /** The write with this hash is about to be executed. */
  begin(hash: string): void;
  /** Whether the write has crashed its thread before, more than once. */
  isFatal(hash: string): boolean;
}

export interface PushHost extends CallerHost {
  readonly watchedWrites?: WatchedWrites | undefined;
  readonly longPushes?: LongPushes | undefined;
  readonly transactions: Transactions;
  readonly failedWrites: FailedWrites;
  readonly queryTimeoutMs: number | undefined;
}
