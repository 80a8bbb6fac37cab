/** Notes what a query reads of the data shown. */
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

/** All reads of one execution, in the order made. */
export interface TrackedReads {
  readonly rows: RowAddress[];
  readonly ranges: Range[];
}

/** A query that reads more than this runs again whatever changes. */
const READS_MAX = 64;

/** As they are kept with a write. */
export function keptReads({ rows, ranges }: TrackedReads): Reads | 'all' {
  const own = rows.filter(({ space }) => isEntrySpace(space));
  if (own.length + ranges.length > READS_MAX) return 'all';
  return { rows: own, ranges };
}

/** What everybody in the database reads. */
export const trackReads = (base: Reader, reads: TrackedReads): Reader =>
  new TrackingReader(base, reads);

/**
 * What the identity of the hub reads: a copy without its history would answer for the past as if nothing had been.
 * @throws Refusal `history_not_local`, when it reads
 */
export const trackPresent = (base: Reader, reads: TrackedReads): Reader =>
  new PresentReader(base, reads);

class TrackingReader implements Reader {
  private readonly base: Reader;
  private readonly reads: TrackedReads;

  constructor(base: Reader, reads: TrackedReads) {
    this.base = base;
    this.reads = reads;
  }

  row(address: RowAddress): Row | undefined {
    this.reads.rows.push(address);
    return this.base.row(address);
  }

  rowAssumedAbsent(address: RowAddress): Row | undefined {
    this.reads.rows.push(address);
    return this.base.rowAssumedAbsent(address);
  }

  range(range: Range): readonly Entry[] {
    this.reads.ranges.push(range);
    return this.base.range(range);
  }

  rangeAssumedEmpty(range: Range): readonly Entry[] {
    this.reads.ranges.push(range);
    return this.base.rangeAssumedEmpty(range);
  }
}

class PresentReader extends TrackingReader {
  override range(range: Range): readonly Entry[] {
    if (range.space === 'history') throw noHistory();
    return super.range(range);
  }
}

export const noHistory = (): Refusal =>
  new Refusal(
    'history_not_local',
    'A copy has no history. Run the query at the hub: `sync.client.query(…, { at: "hub" })`.',
  );
