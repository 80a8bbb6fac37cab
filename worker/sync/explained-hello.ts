/** A hello without an answer looks alike in a page when the hub is down and when it refuses the origin: this one finds out. */
import { abortWith } from '../../hosts/abort-with.ts';
import type { Transport } from '../../src/sync/device/syncer/transport.ts';

export interface ExplainedHelloOptions {
  readonly hello: Transport['hello'];
  /** The message for the user, when the hub refuses the origin. */
  readonly refusedOrigin: () => Promise<string | undefined>;
  /** Monotonic, ms. */
  readonly now: () => number;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Hello is repeated for as long as there is no answer: the question takes two more requests each time. */
export const EXPLAIN_EVERY_MS = 10_000;

export function explainedHello(options: ExplainedHelloOptions): Transport['hello'] {
  const { hello, refusedOrigin, now, signal } = options;
  let askedAt = -Infinity;
  return async (message) => {
    try {
      return await hello(message);
    } catch (reason) {
      // A deadline that passed is no refusal.
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
