/** Stores a file of this device, cut into chunks. The name of the file is derived from its bytes. */
import { hexOfBytes } from '../../../codec/hex.ts';
import type { Sha256 } from '../../../codec/sha256.ts';
import { Refusal } from '../../../errors.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import {
  chunkBytesOf,
  fileNameOf,
  isChunkOf,
  type FileName,
  type Manifest,
} from '../../protocol/files.ts';
import type { FileRecord, FileStore } from './file-store.ts';

/** Bytes that can be read in parts, such as a `Blob`. */
export interface FileSource {
  readonly size: number;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

export interface FilesHost {
  readonly store: FileStore;
  readonly sha256: Sha256;
  /** ms since the Unix epoch. */
  readonly nowMs: () => number;
}

/**
 * Reads the source twice, one chunk at a time: the name is known only at the end, and the whole file may not fit into memory.
 * @throws Refusal `request too large`, `quota_exceeded`; `bad request` if the source cannot be read, or its bytes change between the reads
 */
export async function putFile(source: FileSource, host: FilesHost): Promise<FileName> {
  const { store, sha256 } = host;
  const manifest = await manifestOf(source, sha256);
  const file = fileNameOf(manifest, sha256);
  const begun = await store.update(file, (before) =>
    usedNow(before ?? newRecord(file, manifest), host),
  );
  if (begun?.isWhole) return file;
  try {
    for (const n of manifest.chunks.keys()) {
      const bytes = await bytesOf(source, manifest, n);
      if (!isChunkOf(manifest, n, bytes, sha256)) refuseUnread();
      await store.putChunk(file, n, bytes);
    }
  } catch (reason) {
    // Otherwise the chunks would take up space until the next sweep, although storage may be full.
    await store.remove(file, ({ isWhole, unsent }) => !isWhole && unsent.length === 0);
    throw reason;
  }
  const whole = await store.update(
    file,
    (before) => before && { ...before, isWhole: true, failed: undefined },
  );
  // The file was swept in the meantime, with its first chunks: it is stored again.
  return whole ? file : putFile(source, host);
}

export const newRecord = (file: FileName, manifest: Manifest): FileRecord => ({
  file,
  manifest,
  isWhole: false,
  usedMs: 0,
  unsent: [],
  noted: 0,
  sent: [],
  epoch: undefined,
  failed: undefined,
  linkedTs: 0,
});

export const usedNow = (record: FileRecord, { nowMs }: Pick<FilesHost, 'nowMs'>): FileRecord => ({
  ...record,
  usedMs: Math.max(record.usedMs, nowMs()),
  isMissed: false,
});

async function manifestOf(source: FileSource, sha256: Sha256): Promise<Manifest> {
  const { size } = source;
  if (size > SYNC_LIMITS.fileBytes)
    throw new Refusal(
      'request too large',
      `The file has ${size} bytes; the limit is ${SYNC_LIMITS.fileBytes}.`,
    );
  const count = Math.ceil(size / SYNC_LIMITS.fileChunkBytes);
  const chunks: string[] = [];
  for (let n = 0; n < count; n++)
    chunks.push(hexOfBytes(sha256(await bytesOf(source, { size }, n))));
  return { size, chunks };
}

async function bytesOf(
  source: FileSource,
  { size }: Pick<Manifest, 'size'>,
  n: number,
): Promise<Uint8Array> {
  const start = n * SYNC_LIMITS.fileChunkBytes;
  const part = source.slice(start, start + chunkBytesOf({ size }, n));
  return new Uint8Array(await part.arrayBuffer().catch(refuseUnread));
}

/** @throws Refusal */
function refuseUnread(cause?: unknown): never {
  throw new Refusal('bad request', 'The file cannot be read, or has changed: choose it again.', {
    cause,
  });
}
