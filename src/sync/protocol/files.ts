/**
 * Files that belong to documents. A file is cut into chunks; its name is the hash of their hashes. So every chunk can be verified when it
 * arrives, and the name in a document identifies the exact bytes. A document refers to a file by any string in it that is the name.
 */
import { hexOfBytes } from '../../codec/hex.ts';
import { hexHash, type Sha256 } from '../../codec/sha256.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { count, documentId, hexDigits, number32 } from './identifiers.ts';
import {
  anyOf,
  integer,
  list,
  object,
  text,
  textLike,
  tuple,
  where,
  type TypeOf,
} from './schema.ts';

const { fileChunkBytes, fileBytes } = SYNC_LIMITS;
const CHUNKS_MAX = fileBytes / fileChunkBytes;
const COLLECTION_CHARS = 256;

export const fileName = textLike(/^file:[\da-f]{64}$/, 'the name of a file: file:<64 digits>');
export type FileName = TypeOf<typeof fileName>;

/** The size and the chunks of a file. */
export const manifest = where(
  object(() => ({
    /** In bytes. */
    size: integer(0, fileBytes),
    /** SHA-256 of each chunk, in hexadecimal. All chunks except the last have `fileChunkBytes` bytes. */
    chunks: list(hexDigits(64), CHUNKS_MAX),
  })),
  ({ size, chunks }) => chunks.length === Math.ceil(size / fileChunkBytes),
  'as many chunks as the size takes',
);
export type Manifest = TypeOf<typeof manifest>;

/** A document that refers to files: its collection, by number or by name, and its id. */
export const fileHome = tuple(anyOf(number32, text(COLLECTION_CHARS)), documentId);
export type FileHome = TypeOf<typeof fileHome>;

/** A file of a certain document. The permissions on the document apply to the file. */
export interface FilePlace {
  readonly file: FileName;
  readonly home: FileHome;
}

/** The chunks of a file that the hub does not have. */
export const missingChunks = object(() => ({ missing: list(count, CHUNKS_MAX) }));
export type MissingChunks = TypeOf<typeof missingChunks>;

/**
 * - `file_not_found`: the caller may read no such document, or the document does not refer to the file.
 * - `file_not_uploaded`: the device that has the file has not uploaded all of it yet.
 * - `file_too_large`: the hub does not accept files of that size.
 * - `storage_full`: the hub has no disk space left; `no_files`: it stores no files.
 */
export type FileRefusalCode =
  | 'file_not_found'
  | 'file_not_uploaded'
  | 'file_too_large'
  | 'storage_full'
  | 'no_files';

export const fileNameOf = ({ size, chunks }: Manifest, sha256: Sha256): FileName =>
  `file:${hexHash(JSON.stringify([size, chunks]), sha256)}`;

/** Size of chunk `n`, in bytes. */
export const chunkBytesOf = ({ size }: Pick<Manifest, 'size'>, n: number): number =>
  Math.min(fileChunkBytes, size - n * fileChunkBytes);

export const isChunkOf = (
  manifest: Manifest,
  n: number,
  bytes: Uint8Array,
  sha256: Sha256,
): boolean =>
  bytes.length === chunkBytesOf(manifest, n) && hexOfBytes(sha256(bytes)) === manifest.chunks[n];
