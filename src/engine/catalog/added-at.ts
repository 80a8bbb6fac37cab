import { unpackVersion } from '../../codec/row.ts';
import type { Entry } from '../../store/port.ts';
import type { Micros } from '../../values/value.ts';

/** The commit time at which a current entry was added. */
export function addedAt({ entry, row }: Entry): Micros {
  if (!row) return Infinity;
  const version = unpackVersion(String(row.value));
  return version.added?.[row.entries.indexOf(entry)] ?? version.ts;
}
