/** Downloads a file from the hub in chunks. Each chunk is verified and stored, so a lost connection costs at most one chunk. */
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
  /** Why the download failed. */
  readonly error?: string;
}

/**
 * @param isAbandoned checked between chunks: if true, the download ends and keeps the chunks that have come
 * @throws RefusedByHub; errors of the transport; DamagedOnTheWay
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
        // The file came from this document at the hub, so it need not be sent there.
        ...(!before.isWhole && {
          ...withSent(atEpoch(before, epoch), place.home, undefined, { epoch }),
          isWhole: true,
          failed: undefined,
        }),
      },
  );
  // The file was swept in the meantime, with the first chunks of this download: it begins again.
  if (!whole) await fetchFile(place, transport, host, options);
}

/** The received bytes do not match the name of the file. The caller may download them again. */
export class DamagedOnTheWay extends Refusal {
  constructor() {
    super(
      'connection_needed',
      'A part of the file arrived damaged: its hash differs. Get it again.',
    );
  }
}

export interface FetchOptions {
  /** Epoch of the hub. */
  readonly epoch?: Epoch | undefined;
  readonly onProgress?: ((progress: FileProgress) => void) | undefined;
  readonly isAbandoned?: (() => boolean) | undefined;
}
