/** A write of a push as the hub considers it, and what it needs to judge it. */
import type { Line } from '../../../engine/host.ts';
import type { QueryPlan } from '../../../engine/session.ts';
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
  /** Hash of the write before it in the same push: it was made on top of that one. */
  readonly previous: string | undefined;
  /** Its query, where that was too long to be parsed in one slice. */
  readonly parsed: QueryPlan['parsed'] | undefined;
  readonly device: DeviceId;
  readonly epoch: Epoch;
  readonly database: DatabaseId;
  readonly owner: string;
  /** Verdicts up to here are kept by the device. */
  readonly settled: number;
  readonly request: DeviceRequest;
}

/** Another hub of devices on the same store, which holds up nobody. */
export interface LongPushes {
  /** How long a write may be evaluated here. */
  turnMs(secret: string): number;
  /** Where its writes wait among those of others. */
  lineOf(secret: string): Line;
  /** Processes it from its start. @throws Refusal */
  execute(secret: string, message: unknown): Promise<AnswerOf<'push'> | SyncRefusal>;
}

/** Where writes are executed in a thread that one of them may end. */
export interface WatchedWrites {
  /** The one with this hash is about to be executed. */
  begin(hash: string): void;
  /** It has ended its thread again. */
  isFatal(hash: string): boolean;
}

export interface PushHost extends CallerHost {
  readonly watchedWrites?: WatchedWrites | undefined;
  readonly longPushes?: LongPushes | undefined;
  readonly transactions: Transactions;
  readonly failedWrites: FailedWrites;
  readonly queryTimeoutMs: number | undefined;
}
