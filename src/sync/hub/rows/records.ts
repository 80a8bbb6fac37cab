/** Records of a hub in the space `sync`: JSON, each under a key. */
import type { Row, RowAddress } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';

/** The result is not validated, because only the hub writes these records. @throws Suspended */
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
