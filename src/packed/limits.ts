/** Sizes of the packed store; tests make them small. */
export interface PackedLimits {
  /** The memtable is flushed when it takes so much memory, or so many commits made it: whoever opens the database reads them all. */
  readonly memtableBytesMax: number;
  readonly commitsMax: number;
  readonly tableBytes: number;
  readonly blockBytes: number;
  /** Of rows, which are read one by one more often than entries are. */
  readonly rowBlockBytes: number;
  /** Blocks are put so many bytes at a time. */
  readonly putBytes: number;
  /** A part of a block, below what Chromium gives a file of its own. */
  readonly partBytes: number;
  /** Blocks that stand beside each other are asked for about so many bytes at a time: of a larger answer Chromium takes five times as long for each byte. */
  readonly rangeBytes: number;
  /** Items that are flushed or merged between two pauses, unless bytes are put before. */
  readonly sliceItems: number;
  /** So many runs of a level become one. */
  readonly runsPerLevel: number;
  /** With so many numbers of the log after the last sweep, maintenance begins with one: it looks through the numbers of all blocks. */
  readonly unsweptMax: number;
}

export const PACKED_LIMITS: PackedLimits = {
  memtableBytesMax: 3 * 1024 * 1024,
  commitsMax: 1000,
  tableBytes: 1024 * 1024,
  blockBytes: 8 * 1024,
  rowBlockBytes: 16 * 1024,
  putBytes: 256 * 1024,
  partBytes: 56 * 1024,
  rangeBytes: 128 * 1024,
  sliceItems: 2000,
  runsPerLevel: 4,
  unsweptMax: 250,
};
