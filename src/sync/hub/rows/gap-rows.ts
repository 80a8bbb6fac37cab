/** Gaps in the history of a hub, in which commits may have been lost: the store may have been set back. */
import { syncKey } from '../../../codec/key.ts';
import type { RowAddress } from '../../../store/port.ts';
import type { Reader, Writer } from '../../../store/reader.ts';
import type { Micros } from '../../../values/value.ts';
import { recordIn, recordRow } from './records.ts';

/** The time between two consecutive commits, the second of which is the first one of a process, or the first one after a loss. */
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

export const withGap = (gaps: readonly Gap[], gap: Gap): readonly Gap[] =>
  [...gaps, gap].slice(-GAPS_MAX);

/** Stores gaps for later processes. @returns whether one was not stored yet @throws Suspended */
export function keepGaps(writer: Writer, gaps: readonly Gap[]): boolean {
  const known = gapsIn(writer);
  const isKnown = ({ previous }: Gap): boolean => known.some((each) => each.previous === previous);
  const added = gaps.filter((gap) => !isKnown(gap));
  if (added.length === 0) return false;
  writer.put('sync', recordRow(GAPS, added.reduce(withGap, known)));
  return true;
}
