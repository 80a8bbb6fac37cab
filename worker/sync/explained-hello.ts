/** A page cannot tell whether a hello failed because the hub is down or because it rejects the page's origin. This hello finds out. */
import { abortWith } from '../../hosts/abort-with.ts';
import type { Transport } from '../../src/sync/device/syncer/transport.ts';

export interface ExplainedHelloOptions {
  readonly hello: Transport['hello'];
  /** The message for the user if the hub rejects the origin, otherwise undefined. */
  readonly refusedOrigin: () => Promise<string | undefined>;
  /** Monotonic time in ms. */
  readonly now: () => number;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** The minimum time between two checks, in ms: hello is repeated until it succeeds, and each check takes two more requests. */
export const EXPLAIN_EVERY_MS = 10_000;

export function explainedHello(options: ExplainedHelloOptions): Transport['hello'] {
  const { hello, refusedOrigin, now, signal } = options;
  let askedAt = -Infinity;
  return async (message) => {
    try {
      return await hello(message);
    } catch (reason) {
      // A timeout is no TypeError: it does not mean that the origin was rejected.
      const isUnexplained = reason instanceof TypeError && now() - askedAt >= EXPLAIN_EVERY_MS;
      if (!isUnexplained || signal.aborted) throw reason;
      askedAt = now();
      const waiting = abortWith(signal);
      const description = await Promise.race([refusedOrigin(), aborted(waiting.signal)]).finally(
        () => waiting.abort(),
      );
      if (description === undefined) throw reason;
      return { ok: false, refusal: { code: 'forbidden', description } };
    }
  };
}

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(undefined), { once: true }),
  );
