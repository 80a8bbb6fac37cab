/** The log of queries, as page and worker speak of it. */

/** An exported log file. */
export interface LogFile {
  readonly name: string;
  readonly file: BlobLike;
}
/** A `Blob`: this room has no word for it. It crosses without being copied. */
export interface BlobLike {
  readonly size: number;
}
