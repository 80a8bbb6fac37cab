import type { Arg } from '../../index.ts';

/** A value, or a function that returns it; the function is called again when values that it reads change. */
export type Given<T> = T | undefined | (() => T | undefined);

export const given = <T extends Arg>(query: Given<T>): T | undefined =>
  typeof query === 'function' ? query() : query;
