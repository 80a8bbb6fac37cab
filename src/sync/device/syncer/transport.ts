/** How a device reaches its hub: HTTP in a browser, a simulated network in tests. */
import {
  REQUEST_NAMES,
  type AnswerOf,
  type RequestName,
  type RequestOf,
} from '../../protocol/messages.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { Poke } from '../../protocol/hints.ts';
import type { SyncRefusal } from '../../protocol/refusals.ts';

/** The hub has answered: with what was asked for, or why not. */
export type HubAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: SyncRefusal; readonly retryAfterMs?: number };

/** Somebody on the way has answered, and said when to come again. What the hub has done is not known. */
export class Busy extends Error {
  readonly retryAfterMs: number;
  constructor(description: string, retryAfterMs: number) {
    super(description);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The hub has said no. */
export class Refused extends Error {
  readonly refusal: SyncRefusal;
  readonly retryAfterMs: number | undefined;
  constructor(refusal: SyncRefusal, retryAfterMs: number | undefined) {
    super(refusal.description);
    this.refusal = refusal;
    this.retryAfterMs = retryAfterMs;
  }
}

/** @throws Refused */
export function requireAnswer<T>(answer: HubAnswer<T>): T {
  if (answer.ok) return answer.value;
  throw new Refused(answer.refusal, answer.retryAfterMs);
}

export interface ListenEvents {
  readonly onPoke: (poke: Poke) => void;
  /** Something else was heard: that the stream has begun, or is still there. */
  readonly onSign: () => void;
  readonly onEnd: () => void;
}

type Ask = <N extends RequestName>(
  name: N,
  message: RequestOf<N>,
) => Promise<HubAnswer<AnswerOf<N>>>;

/** One function for each request. Rejects when there is no answer, with `Busy` or anything else: then it is unknown whether the hub has done it. */
type Requests = {
  readonly [N in RequestName]: (message: RequestOf<N>) => Promise<HubAnswer<AnswerOf<N>>>;
};

export interface Transport extends Requests {
  /** Hints, from now on until they end by themselves or are stopped. Returns the way to stop. */
  listen(device: DeviceId, events: ListenEvents): () => void;
}

/** All requests by one way of asking. */
export const requestsBy = (ask: Ask): Requests =>
  // Each name has its own function of the same shape: types cannot say so of a list of names.
  Object.fromEntries(
    REQUEST_NAMES.map((name) => [name, (message: never) => ask(name, message)]),
  ) as unknown as Requests;
