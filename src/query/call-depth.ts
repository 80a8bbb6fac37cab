/** The fault for calls that are nested too deep. */
import { fail, isStackExhausted } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { positionOf, type QueryPath } from './query-path.ts';

export const refuseDepth = (path: QueryPath): never =>
  fail(
    'stack overflow',
    positionOf(path),
    `Call stack reached the maximum limit of ${LIMITS.callDepth}.`,
  );

/**
 * Runs `body` and turns a JavaScript stack overflow into that fault. Deep recursion of complex functions can exhaust
 * the stack before the limit of calls is reached.
 */
export function guardStack<T>(path: QueryPath, body: () => T): T {
  try {
    return body();
  } catch (thrown) {
    if (isStackExhausted(thrown)) return refuseDepth(path);
    throw thrown;
  }
}
