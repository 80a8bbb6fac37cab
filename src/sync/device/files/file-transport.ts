/** Transfers files to and from the hub. As in `Transport`, each function rejects if no answer came. */
import type { FilePlace, Manifest, MissingChunks } from '../../protocol/files.ts';
import type { HubAnswer } from '../syncer/transport.ts';

export interface FileTransport {
  begin(place: FilePlace, manifest: Manifest): Promise<HubAnswer<MissingChunks>>;
  write(place: FilePlace, n: number, bytes: Uint8Array): Promise<HubAnswer<undefined>>;
  manifest(place: FilePlace): Promise<HubAnswer<Manifest>>;
  read(place: FilePlace, n: number): Promise<HubAnswer<Uint8Array>>;
}
