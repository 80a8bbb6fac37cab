/** Reads long queries in turns, one query after the other: for an engine whose callers do not know each other. */
import { parseLongQuery } from '../../query/parse.ts';
import type { EngineOptions } from '../context/host.ts';

export function longQueryReader(
  pause: EngineOptions['pause'],
): NonNullable<EngineOptions['readLong']> {
  let last: Promise<unknown> = Promise.resolve();
  return (text, apiVersion) => {
    const read = () => parseLongQuery(text, apiVersion, pause);
    const mine = last.then(read, read);
    last = mine;
    // The caller of that query gets its failure.
    mine.catch(() => undefined);
    return mine;
  };
}
