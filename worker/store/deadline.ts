import type { Refusal } from '../../src/errors.ts';

/** The promise's own end, or `late()` thrown after `ms`. */
export function within<T>(ms: number, promise: PromiseLike<T>, late: () => Refusal): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (reason: unknown) => {
        clearTimeout(timer);
        reject(reason);
      },
    );
  });
}
