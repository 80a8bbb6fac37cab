/** The hub's verdicts on writes, by device and number and by content. */
import { syncKey, type Key } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { Row } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import { scan } from '../../../store/scan.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { Verdict } from '../../protocol/writes.ts';
import { readRecord, recordIn, recordRow } from './records.ts';

export const verdictKey = (database: DatabaseId, device: DeviceId, seq: number): Key =>
  syncKey('verdict', database, device, seq);

/** @throws Suspended */
export const verdictIn = (
  reader: Reader,
  ...where: Parameters<typeof verdictKey>
): Verdict | undefined =>
  recordIn(reader, { space: 'sync', key: verdictKey(...where) }) as Verdict | undefined;

export const verdictRow = (database: DatabaseId, device: DeviceId, verdict: Verdict): Row =>
  recordRow({ key: verdictKey(database, device, verdict.seq) }, verdict);

/** Key by content and maker, independent of device id and number: two copies of one device may send the same write. */
export const contentKey = (database: DatabaseId, now: Micros, makingHash: string): Key =>
  syncKey('made', database, now, makingHash);

/** The verdict on a write with this content, if it was judged before. @throws Suspended */
export function verdictByContent(reader: Reader, key: Key): Verdict | undefined {
  const row = reader.row({ space: 'sync', key }, 'absent');
  return row && (readRecord(row) as Verdict);
}

export const contentRow = (key: Key, verdict: Verdict): Row => recordRow({ key }, verdict);

/**
 * Verdicts above `settled`, oldest first, within limits. The device gets the others after it has settled these.
 * @throws Suspended
 */
export function verdictsAbove(
  reader: Reader,
  database: DatabaseId,
  device: DeviceId,
  { settled, lastSeq }: { readonly settled: number; readonly lastSeq: number },
): readonly Verdict[] {
  const verdicts: Verdict[] = [];
  let chars = 0;
  for (const row of verdictRows(reader, database, device, settled + 1, lastSeq)) {
    chars += row.value.length;
    if (verdicts.length > 0 && chars > SYNC_LIMITS.pullVerdictChars) break;
    verdicts.push(readRecord(row) as Verdict);
  }
  return verdicts;
}

/** Up to this many rows are read by key, because recent rows are cached by key. */
const FEW = 16;

function verdictRows(
  reader: Reader,
  database: DatabaseId,
  device: DeviceId,
  first: number,
  last: number,
): readonly Row[] {
  if (last < first) return [];
  if (last - first < FEW) {
    const keys = Array.from({ length: last - first + 1 }, (_, i) =>
      verdictKey(database, device, first + i),
    );
    return eachElement(keys, (key) => reader.row({ space: 'sync', key })).flatMap(
      (row) => row ?? [],
    );
  }
  const { upper } = prefixRange(syncKey('verdict', database, device));
  const range = { lower: verdictKey(database, device, first), upper };
  return reader
    .range(scan('sync', range, { limit: SYNC_LIMITS.pullVerdicts }))
    .flatMap(({ row }) => row ?? []);
}
