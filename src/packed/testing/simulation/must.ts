/** Assertions of the simulation. */
import { isDeepStrictEqual, inspect } from 'node:util';

export function must(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

export function mustEqual(found: unknown, expected: unknown, what: string): void {
  must(
    isDeepStrictEqual(found, expected),
    `${what}: found ${inspect(found, SHOWN)}, expected ${inspect(expected, SHOWN)}`,
  );
}

const SHOWN = { depth: 6, breakLength: Infinity };
