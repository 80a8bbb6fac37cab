/**
 * Decides which versions of a document are retained. The others may be removed from the store at any time (`expired-data.ts`), so results
 * must not depend on whether they still exist. Spec: sets 1.2, 1.3.
 */
import type { StoredVersion } from '../../codec/row.ts';
import type { Micros } from '../../values/value.ts';

type Version = Pick<StoredVersion, 'ts' | 'action' | 'ttl'>;

/**
 * The versions that are retained.
 * @param versions oldest first
 * @param minimum minimum valid time of the collection
 */
export function retained<V extends Version>(versions: readonly V[], minimum: Micros): readonly V[] {
  const edge = versions.findLastIndex(({ ts }) => ts < minimum);
  const version = versions[edge];
  if (!version) return versions;
  return versions.slice(isGoneBefore(version, minimum) ? edge + 1 : edge);
}

/** Whether a version began before the minimum valid time, and its document had ended or expired by then. */
export const isGoneBefore = ({ ts, action, ttl }: Version, minimum: Micros): boolean =>
  ts < minimum && (action === 'delete' || isOver(ttl, minimum));

/** Whether a `ttl` has passed at `time`. */
export const isOver = (ttl: Micros | undefined, time: Micros): boolean =>
  ttl !== undefined && ttl <= time;
