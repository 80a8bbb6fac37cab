/** Reads the texts of long queries in time slices, one query after the other: for an engine whose callers do not know each other. */
import { parseLongQuery } from '../../query/parse.ts';
import { SerialQueue } from '../../store/serial-queue.ts';
import type { EngineOptions } from '../context/host.ts';

export function longTextReader(
  pause: EngineOptions['pause'],
): NonNullable<EngineOptions['readLong']> {
  const queue = new SerialQueue();
  return (text, apiVersion) => queue.run(() => parseLongQuery(text, apiVersion, pause));
}
