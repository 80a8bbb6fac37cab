/** How a device reaches its hub: HTTP in a browser, a simulated network in tests. */
import type {
  Check,
  Checked,
  DeviceId,
  Hello,
  Poke,
  Pull,
  Pulled,
  Push,
  Pushed,
  SyncRefusal,
  Welcome,
} from '../../protocol/protocol.ts';

/** The hub has answered: with what was asked for, or why not. */
export type Exchange<T> =
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
export function answerOf<T>(exchange: Exchange<T>): T {
  if (exchange.ok) return exchange.value;
  throw new Refused(exchange.refusal, exchange.retryAfterMs);
}

export interface ListenEvents {
  readonly onPoke: (poke: Poke) => void;
  /** Something else was heard: that the stream has begun, or is still there. */
  readonly onSign: () => void;
  readonly onEnd: () => void;
}

/** Each rejects when there is no answer, with `Busy` or anything else: then nobody knows whether the hub has done what it was asked. */
export interface Transport {
  hello(message: Hello): Promise<Exchange<Welcome>>;
  push(message: Push): Promise<Exchange<Pushed>>;
  pull(message: Pull): Promise<Exchange<Pulled>>;
  check(message: Check): Promise<Exchange<Checked>>;
  /** Hints, from now on until they end by themselves or are stopped. Returns the way to stop. */
  listen(device: DeviceId, events: ListenEvents): () => void;
}
