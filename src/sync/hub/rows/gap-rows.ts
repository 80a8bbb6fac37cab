/** Gaps in the history of a hub, in which commits may have been lost: the store may have been set back before the hub was started. */
import { syncKey } from '../../../codec/key.ts';
import type { RowAddress } from '../../../store/port.ts';
import type { Reader, Writer } from '../../../store/reader.ts';
import type { Micros } from '../../../values/value.ts';
import { recordIn, recordRow } from './records.ts';

/** The time between two consecutive commits, the second of which is the first one of a process. */
export interface Gap {
  readonly previous: Micros;
  readonly ts: Micros;
}

const GAPS: RowAddress = { space: 'sync', key: syncKey('gaps') };

/** Each start of a hub makes one gap. The latest ones are kept. */
const GAPS_MAX = 100;

/** @throws Suspended */
export const gapsIn = (reader: Reader): readonly Gap[] =>
  (recordIn(reader, GAPS) as readonly Gap[] | undefined) ?? [];

export const isInGap = (cursor: Micros, { previous, ts }: Gap): boolean =>
  cursor > previous && cursor < ts;

/** Stores a gap for later processes. @returns whether it was not stored yet @throws Suspended */
export function keepGap(writer: Writer, gap: Gap): boolean {
  const known = gapsIn(writer);
  if (known.some(({ previous }) => previous === gap.previous)) return false;
  writer.put('sync', recordRow(GAPS, [...known, gap].slice(-GAPS_MAX)));
  return true;
}
