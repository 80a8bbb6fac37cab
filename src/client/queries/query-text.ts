import { wrap } from './builders.ts';
import { encodeQuery } from './encode.ts';
import type { Arg } from './types/arguments.ts';

/**
 * Returns the wire text of a query. Equal queries have the same text.
 * @throws UsageError when the query contains a value that FQL does not have
 * @example
 * console.log(queryText(q.Add(1, 2))); // {"add":[1,2]}
 */
export const queryText = (query: Arg): string => encodeQuery(wrap(query));
