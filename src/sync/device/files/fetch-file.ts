/** Gets a file from the hub: a chunk at a time, each checked and kept, so that a broken line costs one chunk. */
import { Refusal } from '../../../errors.ts';
import { fileNameOf, isChunkOf, type FilePlace } from '../../protocol/files.ts';
import type { Epoch } from '../../protocol/identifiers.ts';
import { requireAnswer } from '../syncer/transport.ts';
import type { FileTransport } from './file-transport.ts';
import { newRecord, usedNow, type FilesHost } from './put-file.ts';
import { atEpoch, withSent } from './send-files.ts';

export interface FileProgress {
  readonly done: number;
  readonly size: number;
  /** Why it does not go on. */
  readonly error?: string;
}

/**
 * @param isAbandoned asked between chunks: true ends it, and what has come stays
 * @throws RefusedByHub; what the transport rejects with; DamagedOnTheWay
 */
export async function fetchFile(
  place: FilePlace,
  transport: FileTransport,
  host: FilesHost,
  options: FetchOptions = {},
): Promise<void> {
  const { epoch, onProgress, isAbandoned } = options;
  const { store, sha256 } = host;
  const { file } = place;
  const manifest = requireAnswer(await transport.manifest(place));
  const refuseDamaged = (done: number): never => {
    const damage = new DamagedOnTheWay();
    onProgress?.({ done, size: manifest.size, error: damage.message });
    throw damage;
  };
  if (fileNameOf(manifest, sha256) !== file) refuseDamaged(0);
  await store.update(file, (before) => usedNow(before ?? newRecord(file, manifest), host));
  let done = 0;
  for (const n of manifest.chunks.keys()) {
    if (isAbandoned?.()) return;
    let bytes = await store.chunk(file, n);
    if (!bytes || !isChunkOf(manifest, n, bytes, sha256)) {
      bytes = requireAnswer(await transport.read(place, n));
      if (!isChunkOf(manifest, n, bytes, sha256)) refuseDamaged(done);
      await store.putChunk(file, n, bytes);
    }
    done += bytes.length;
    onProgress?.({ done, size: manifest.size });
  }
  const whole = await store.update(
    file,
    (before) =>
      before && {
        ...usedNow(before, host),
        // It came from there.
        ...(!before.isWhole && {
          ...withSent(atEpoch(before, epoch), place.home, undefined, { epoch }),
          isWhole: true,
          failed: undefined,
        }),
      },
  );
  // Removed meanwhile, and its first chunks with it.
  if (!whole) await fetchFile(place, transport, host, options);
}

/** What came is not what the name of the file says: it is asked for again. */
export class DamagedOnTheWay extends Refusal {
  constructor() {
    super(
      'connection_needed',
      'A part of the file arrived damaged: its hash differs. Get it again.',
    );
  }
}

export interface FetchOptions {
  /** Of the hub. */
  readonly epoch?: Epoch | undefined;
  readonly onProgress?: ((progress: FileProgress) => void) | undefined;
  readonly isAbandoned?: (() => boolean) | undefined;
}
