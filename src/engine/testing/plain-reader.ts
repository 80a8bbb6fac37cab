import type { Reader } from '../../store/reader.ts';

/** A reader that assumes nothing absent: it reads everything. */
export const plainReader = (parts: Pick<Reader, 'row' | 'range'>): Reader => ({
  row: (address) => parts.row(address),
  range: (range) => parts.range(range),
  rowAssumedAbsent: (address) => parts.row(address),
  rangeAssumedEmpty: (range) => parts.range(range),
});
