/** Records of a hub in the space `sync`: JSON under a key. */
import type { Row, RowAddress } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';

/** Only this side writes the lists it reads, so what is parsed is what was put there. @throws Suspended */
export function recordIn(reader: Reader, address: RowAddress): unknown {
  const row = reader.row(address);
  return row && readRecord(row);
}

export const readRecord = (row: Row): unknown => JSON.parse(String(row.value));

export const recordRow = ({ key }: Pick<RowAddress, 'key'>, record: unknown): Row => ({
  key,
  entries: [],
  value: JSON.stringify(record),
});
