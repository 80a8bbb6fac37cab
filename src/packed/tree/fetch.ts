/** Reads rows and ranges of a version from cached blocks. Continues when more blocks have been loaded. */
import {
  rowBytes,
  type Entry,
  type Found,
  type Range,
  type Row,
  type RowAddress,
} from '../../store/port.ts';
import { rowFamily } from '../families.ts';
import type { BlockAccess } from './block-access.ts';
import { MISSING, pointRow } from './point-get.ts';
import { RangeScan } from './range-scan.ts';
import type { Version } from './version.ts';

/** If the fetch has a limit of bytes, the blocks of this many rows are requested at a time. */
const ROWS_AT_A_TIME = 256;

export class Fetch {
  readonly version: Version;
  private readonly wanted: readonly RowAddress[];
  private readonly bytesMax: number;
  private readonly rows: (Row | undefined)[] = [];
  private rowBytes = 0;
  private readonly scans: readonly RangeScan[];

  constructor(
    version: Version,
    rows: readonly RowAddress[],
    ranges: readonly Range[],
    bytesMax: number,
  ) {
    this.version = version;
    this.wanted = rows;
    this.bytesMax = bytesMax;
    this.scans = ranges.map((range) => new RangeScan(version, range));
  }

  /** Returns undefined when blocks are missing. They are noted. */
  run(access: BlockAccess): Found | undefined {
    const hasRows = this.readRows(access);
    const hasRanges = this.readRanges(access);
    return hasRows && hasRanges ? this.found() : undefined;
  }

  /** Returns false when a block is missing. */
  private readRows(access: BlockAccess): boolean {
    const start = this.rows.length;
    let isWhole = true;
    for (let at = start; at < this.wanted.length; at += 1) {
      const address = this.wanted[at];
      if (!address || this.rowBytes >= this.bytesMax) return isWhole;
      if (!isWhole && this.bytesMax < Infinity && at - start >= ROWS_AT_A_TIME) return false;
      const row = pointRow(this.version, rowFamily(address.space), address.key, access);
      if (row === MISSING) isWhole = false;
      else if (isWhole) {
        this.rows.push(row);
        this.rowBytes += row ? rowBytes(row) : 0;
      }
    }
    return isWhole;
  }

  /** The ranges share the limit of bytes, in their order. */
  private readRanges(access: BlockAccess): boolean {
    let bytes = 0;
    let isWhole = true;
    for (const scan of this.scans) {
      if (bytes >= this.bytesMax) scan.stop();
      else isWhole = scan.run(access, this.bytesMax - bytes) && isWhole;
      bytes += scan.bytes;
    }
    return isWhole;
  }

  private found(): Found {
    const ranges: (readonly Entry[])[] = this.scans.map(({ found }) => found);
    const cut = new Set(this.scans.flatMap(({ isCut }, at) => (isCut ? at : [])));
    const { rows } = this;
    if (rows.length === this.wanted.length && cut.size === 0) return { rows, ranges };
    return { rows, ranges, truncation: { rows: rows.length, ranges: cut } };
  }
}
