import type { Refusal } from '../../src/errors.ts';
import { deadline } from '../../src/host/deadline.ts';

/** Settles as the promise does, or rejects with `late()` after `ms`. */
export function within<T>(
  ms: number,
  promise: PromiseLike<T>,
  late: () => Refusal | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = deadline(ms, () => {
      clearInterval(timer);
      reject(late());
    });
    promise.then(
      (value) => {
        clearInterval(timer);
        resolve(value);
      },
      (reason: unknown) => {
        clearInterval(timer);
        reject(reason);
      },
    );
  });
}

const PATIENCE_MS = 2_000;

/** For promises whose failure is harmless: the promise's value, or undefined when it rejects or takes longer than two seconds. */
export const unlessLate = <T>(promise: PromiseLike<T>): Promise<T | undefined> =>
  within(PATIENCE_MS, promise, () => undefined).catch(() => undefined);
