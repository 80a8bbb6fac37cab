/** How a device reaches its hub: HTTP in a browser, a simulated network in tests. */
import type { ChangeHint } from '../../protocol/hints.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import {
  REQUEST_NAMES,
  type AnswerOf,
  type RequestName,
  type RequestOf,
} from '../../protocol/messages.ts';
import type { SyncRefusal } from '../../protocol/refusals.ts';

/** The hub has answered: with what was asked for, or why not. */
export type HubAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: SyncRefusal; readonly retryAfterMs?: number };

type Ask = <N extends RequestName>(
  name: N,
  message: RequestOf<N>,
) => Promise<HubAnswer<AnswerOf<N>>>;

type Requests = {
  readonly [N in RequestName]: (message: RequestOf<N>) => Promise<HubAnswer<AnswerOf<N>>>;
};

/**
 * One function for each request. It rejects when no answer came, with `ForeignAnswer` or any other error: whether the hub has done what it
 * was asked is unknown then.
 */
export interface Transport extends Requests {
  /** Listens for hints until the stream ends or is stopped. Returns a function that stops it. */
  listen(device: DeviceId, events: ListenEvents): () => void;
}

export interface ListenEvents {
  readonly onHint: (hint: ChangeHint) => void;
  /** Any other sign of life: the stream has begun, or a heartbeat. */
  readonly onActivity: () => void;
  readonly onEnd: () => void;
}

/** All requests by one function that asks. */
export const requestsBy = (ask: Ask): Requests =>
  // Each name has its own function of the same shape: types cannot say so of a list of names.
  Object.fromEntries(
    REQUEST_NAMES.map((name) => [name, (message: never) => ask(name, message)]),
  ) as unknown as Requests;

/** A server on the way has answered in place of the hub: what that has done is unknown. The message is for the user. */
export class ForeignAnswer extends Error {
  readonly code = 'connection_needed';
}

/** It has said when to come again. */
export class RetryLater extends ForeignAnswer {
  readonly retryAfterMs: number;
  constructor(description: string, retryAfterMs: number) {
    super(description);
    this.retryAfterMs = retryAfterMs;
  }
}

export class RefusedByHub extends Error {
  readonly refusal: SyncRefusal;
  readonly retryAfterMs: number | undefined;
  constructor(refusal: SyncRefusal, retryAfterMs?: number) {
    super(refusal.description);
    this.refusal = refusal;
    this.retryAfterMs = retryAfterMs;
  }
}

/** @throws RefusedByHub */
export function requireAnswer<T>(answer: HubAnswer<T>): T {
  if (answer.ok) return answer.value;
  throw new RefusedByHub(answer.refusal, answer.retryAfterMs);
}
