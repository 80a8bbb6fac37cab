/** Gets a file from the hub: a chunk at a time, each checked and kept, so that a broken line costs one chunk. */
import { fileNameOf, isChunkOf, type FilePlace } from '../../protocol/files.ts';
import { requireAnswer } from '../syncer/transport.ts';
import type { FileTransport } from './file-transport.ts';
import { newRecord, usedNow, type FilesHost } from './put-file.ts';

export interface FileProgress {
  readonly done: number;
  readonly size: number;
}

/**
 * @param isAbandoned asked between chunks: true ends it, and what has come stays
 * @throws RefusedByHub; what the transport rejects with; Error when what came is not the file
 */
export async function fetchFile(
  place: FilePlace,
  transport: FileTransport,
  host: FilesHost,
  { onProgress, isAbandoned }: FetchOptions = {},
): Promise<void> {
  const { store, sha256 } = host;
  const { file } = place;
  const manifest = requireAnswer(await transport.manifest(place));
  if (fileNameOf(manifest, sha256) !== file) throw new Error(`The hub sent another manifest.`);
  await store.update(file, (before) => usedNow(before ?? newRecord(file, manifest), host));
  let done = 0;
  for (const n of manifest.chunks.keys()) {
    if (isAbandoned?.()) return;
    let bytes = await store.chunk(file, n);
    if (!bytes) {
      bytes = requireAnswer(await transport.read(place, n));
      if (!isChunkOf(manifest, n, bytes, sha256))
        throw new Error(`Chunk ${n} is not what the name of the file says.`);
      await store.putChunk(file, n, bytes);
    }
    done += bytes.length;
    onProgress?.({ done, size: manifest.size });
  }
  await store.update(file, (before) => ({
    ...usedNow(before ?? newRecord(file, manifest), host),
    isWhole: true,
    // It came from there.
    isSent: true,
  }));
}

export interface FetchOptions {
  readonly onProgress?: ((progress: FileProgress) => void) | undefined;
  readonly isAbandoned?: (() => boolean) | undefined;
}
