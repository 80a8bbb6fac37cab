/** How a device reaches its hub: over HTTP in a browser, over a simulated network in tests. */
import type { ChangeHint } from '../../protocol/hints.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import {
  REQUEST_NAMES,
  type AnswerOf,
  type RequestName,
  type RequestOf,
} from '../../protocol/messages.ts';
import type { SyncRefusal } from '../../protocol/refusals.ts';

/** An answer of the hub: the requested value, or a refusal. */
export type HubAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly refusal: SyncRefusal;
      readonly retryAfterMs?: number | undefined;
    };

type Ask = <N extends RequestName>(
  name: N,
  message: RequestOf<N>,
) => Promise<HubAnswer<AnswerOf<N>>>;

type Requests = {
  readonly [N in RequestName]: (message: RequestOf<N>) => Promise<HubAnswer<AnswerOf<N>>>;
};

/**
 * One function per request. It rejects if no answer of the hub came, with `ForeignAnswer` or another error. It is then unknown whether the
 * hub has processed the request.
 */
export interface Transport extends Requests {
  /** Listens for hints until the stream ends. Returns a function that stops it. */
  listen(device: DeviceId, events: ListenEvents): () => void;
}

export interface ListenEvents {
  readonly onHint: (hint: ChangeHint) => void;
  /** Called for other activity: the stream has opened, or a heartbeat has come. */
  readonly onActivity: () => void;
  readonly onEnd: () => void;
}

/** Implements all requests by one function. */
export const requestsBy = (ask: Ask): Requests =>
  // The cast is needed because TypeScript cannot type an object made from a list of names.
  Object.fromEntries(
    REQUEST_NAMES.map((name) => [name, (message: never) => ask(name, message)]),
  ) as unknown as Requests;

/** A server in between has answered instead of the hub, so it is unknown whether the hub got the request. The message is for the user. */
export class ForeignAnswer extends Error {
  readonly code = 'connection_needed';
}

/** Message of a `ForeignAnswer`: a request would get the same answer again and again, as fast as the network is. */
export const OTHER_ANSWER =
  'The answer is to another request: a server between this device and the hub repeats an earlier one.';

/** The server has sent a retry time. */
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
