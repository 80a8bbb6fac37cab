/** The query log, in the form in which page and worker exchange it. */

export interface LogFile {
  readonly name: string;
  readonly file: BlobLike;
}
/** A `Blob`, a type that this folder does not have. It is passed to the page without being copied. */
export interface BlobLike {
  readonly size: number;
}
