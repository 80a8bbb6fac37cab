/** How deep calls may be nested. */
import { fail, isStackExhausted } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { positionOf, type QueryPath } from './query-path.ts';

export const refuseDepth = (path: QueryPath): never =>
  fail(
    'stack overflow',
    positionOf(path),
    `Call stack reached the maximum limit of ${LIMITS.callDepth}.`,
  );

/** Deep recursion of tall functions may meet the end of JavaScript's stack before the limit of calls. */
export function guardStack<T>(path: QueryPath, body: () => T): T {
  try {
    return body();
  } catch (thrown) {
    if (isStackExhausted(thrown)) return refuseDepth(path);
    throw thrown;
  }
}
