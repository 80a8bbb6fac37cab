import { wrap } from './builders.ts';
import { encodeQuery } from './encode.ts';
import type { Arg } from './types/arguments.ts';

/**
 * A query as it is sent: equal queries have the same text.
 * @throws UsageError when something in it is no value of the language
 * @example
 * console.log(queryText(q.Add(1, 2))); // {"add":[1,2]}
 */
export const queryText = (query: Arg): string => encodeQuery(wrap(query));
