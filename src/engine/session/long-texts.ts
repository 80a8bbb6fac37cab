/** Parses long query texts in time slices, one text after the other, for engines whose callers are independent of each other. */
import { parseLongQuery } from '../../query/parse.ts';
import { SerialQueue } from '../../store/serial-queue.ts';
import type { EngineOptions } from '../context/host.ts';

export function longTextReader(
  pause: EngineOptions['pause'],
): NonNullable<EngineOptions['readLong']> {
  const queue = new SerialQueue();
  return (text, apiVersion) => queue.run(() => parseLongQuery(text, apiVersion, pause));
}
