import type { Arg } from '../../index.ts';

/** A value, or what returns one: that is called again when what it reads changes. */
export type Given<T> = T | undefined | (() => T | undefined);

export const given = <T extends Arg>(query: Given<T>): T | undefined =>
  typeof query === 'function' ? query() : query;
