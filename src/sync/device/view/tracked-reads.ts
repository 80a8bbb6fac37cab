/** Records what a query reads of the data shown. */
import { Refusal } from '../../../errors.ts';
import {
  isEntrySpace,
  type Entry,
  type Range,
  type Row,
  type RowAddress,
} from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { Reads } from '../state/outbox-record.ts';

/** If a write has more reads than this, they are not stored, and every change makes it run again. */
const READS_MAX = 64;

/** The reads in the form in which they are stored with a write. */
export function keptReads({ rows, ranges }: Reads): Reads | 'all' {
  const own = rows.filter(({ space }) => isEntrySpace(space));
  if (own.length + ranges.length > READS_MAX) return 'all';
  return { rows: own, ranges };
}

/** Records the reads of any caller of this database, in order. They may include history. */
export class TrackingReader implements Reader {
  readonly rows: RowAddress[];
  readonly ranges: Range[] = [];
  private readonly base: Reader;

  /** @param rows the list to which the addresses of rows are added */
  constructor(base: Reader, rows: RowAddress[] = []) {
    this.base = base;
    this.rows = rows;
  }

  row(address: RowAddress, assumed?: 'absent'): Row | undefined {
    this.rows.push(address);
    return this.base.row(address, assumed);
  }

  range(range: Range, assumed?: 'empty'): readonly Entry[] {
    this.ranges.push(range);
    return this.base.range(range, assumed);
  }
}

/**
 * Records the reads of the identity, and refuses to read history: a copy has none, so the answer would be wrong.
 * @throws Refusal `history_not_local` when history is read
 */
export class PresentReader extends TrackingReader {
  override range(range: Range, assumed?: 'empty'): readonly Entry[] {
    if (range.space === 'history') throw noHistory();
    return super.range(range, assumed);
  }
}

export const noHistory = (): Refusal =>
  new Refusal(
    'history_not_local',
    'A copy has no history. Run the query at the hub: `sync.client.query(…, { at: "hub" })`.',
  );
