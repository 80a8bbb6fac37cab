/** Addresses and reads of the rows of the outbox. */
import { syncKey } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { Range, Row } from '../../../store/port.ts';
import { Suspended, type Reader } from '../../../store/reader.ts';
import { scan } from '../../../store/scan.ts';
import type { OutboxRecord } from './outbox-record.ts';
import { outboxAddress, readOutboxRow } from './outbox-row.ts';

/** Writes under one device id, from `first` on. Without an era: writes under all device ids. */
export function outboxRange(era?: number, first = 0): Range {
  if (era === undefined) return scan('sync', prefixRange(syncKey('outbox')));
  const { upper } = prefixRange(syncKey('outbox', era));
  return scan('sync', { lower: syncKey('outbox', era, first), upper });
}

/** @throws Suspended */
export const outboxRecords = (reader: Reader, range: Range): OutboxRecord[] =>
  reader.range(range).flatMap(({ row }) => (row ? [readOutboxRow(row)] : []));

/**
 * Rows of writes under one device id, from one number to another. They are read by key, because a row stays cached when other rows change,
 * but a range does not. If most of them are not cached, they are read as a range, which caches each row by its key.
 * @throws Suspended
 */
export function outboxRows(reader: Reader, era: number, first: number, last: number): Row[] {
  const addresses = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) =>
    outboxAddress(era, first + i),
  );
  try {
    return eachElement(addresses, (address) => reader.row(address)).flatMap((row) => row ?? []);
  } catch (thrown) {
    const isMost = thrown instanceof Suspended && thrown.needs.length * 2 > addresses.length;
    if (!isMost) throw thrown;
    return reader.range(outboxRange(era, first)).flatMap(({ row }) => row ?? []);
  }
}
