/** Sizes of the packed store. Tests use small ones. */
export interface PackedLimits {
  /**
   * The memtable is flushed when it takes this much memory, or when this many commits are in it. Each opening reads all
   * of these commits.
   */
  readonly memtableBytesMax: number;
  readonly commitsMax: number;
  readonly tableBytes: number;
  readonly blockBytes: number;
  /** Block size for rows. They are read one at a time more often than index entries are. */
  readonly rowBlockBytes: number;
  /** Blocks are put in batches of about this many bytes. */
  readonly putBytes: number;
  /** Size of a part of a block. It is below the size from which Chromium stores a value in a file of its own. */
  readonly partBytes: number;
  /**
   * Adjacent blocks are requested in ranges of about this many bytes. For larger results Chromium takes five times as
   * long per byte.
   */
  readonly rangeBytes: number;
  /** Items that are flushed or merged between two pauses, unless enough bytes to put come first. */
  readonly sliceItems: number;
  /** This many runs of a level are merged into one. */
  readonly runsPerLevel: number;
  /**
   * When the log has grown by more than this many numbers since the last sweep, maintenance starts with a sweep. A
   * sweep reads the ids of all blocks.
   */
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
