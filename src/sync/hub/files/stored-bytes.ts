/** Stores manifests and chunks, and verifies their hashes when they are read, because the disk may have damaged them. */
import { utf8Bytes, utf8Text } from '../../../codec/utf8.ts';
import type { Sha256 } from '../../../codec/sha256.ts';
import { remember } from '../../../values/remember.ts';
import {
  fileNameOf,
  isChunkOf,
  manifest,
  type FileName,
  type Manifest,
} from '../../protocol/files.ts';
import type { BlobStore } from './blob-store.ts';

export interface StoredBytesOptions {
  readonly blobs: BlobStore;
  readonly sha256: Sha256;
  /** Receives an error for each damaged chunk, once, and for each damaged manifest. */
  readonly report?: ((reason: unknown) => void) | undefined;
}

/** The location of a stored file. */
export interface FileFolder {
  /** Ends in `/`. */
  readonly folder: string;
  readonly file: FileName;
}

const MANIFESTS_MAX = 64;

export class StoredBytes {
  private readonly options: StoredBytesOptions;
  /** Manifests by folder. Cached, because each chunk is verified with its manifest. */
  private readonly manifests = new Map<string, Manifest>();

  constructor(options: StoredBytesOptions) {
    this.options = options;
  }

  /** Undefined if it does not exist, or does not match the file. */
  async manifest({ folder, file }: FileFolder): Promise<Manifest | undefined> {
    const { blobs, sha256 } = this.options;
    const bytes = await blobs.get(`${folder}manifest`);
    const found = bytes && parsed(bytes);
    if (found && fileNameOf(found, sha256) === file) {
      remember(this.manifests, folder, found, MANIFESTS_MAX);
      return found;
    }
    if (bytes) this.report(`The manifest of ${file}, at ${folder}, is damaged.`);
    return undefined;
  }

  async putManifest(folder: string, given: Manifest): Promise<void> {
    await this.options.blobs.put(`${folder}manifest`, utf8Bytes(JSON.stringify(given)));
  }

  /** Undefined if the chunk does not exist or is damaged. A damaged chunk counts as missing from then on. */
  async chunk(at: FileFolder, n: number): Promise<Uint8Array | undefined> {
    const { blobs, sha256 } = this.options;
    const { folder, file } = at;
    const known = this.manifests.get(folder) ?? (await this.manifest(at));
    if (!known) return undefined;
    // Reads twice: the bytes may have been damaged only on the way from the disk or the bucket.
    for (let tries = 0; tries < 2; tries++) {
      const bytes = await blobs.get(`${folder}${n}`);
      if (!bytes || isChunkOf(known, n, bytes, sha256)) return bytes;
    }
    const mark = damageOf(folder, n);
    if (await blobs.get(mark)) return undefined;
    this.report(`Chunk ${n} of ${file}, at ${folder}, is damaged: its hash differs.`);
    await blobs.put(mark, new Uint8Array(1));
    return undefined;
  }

  /** Stores a chunk, also in place of a damaged one. */
  async putChunk(folder: string, n: number, bytes: Uint8Array): Promise<void> {
    const { blobs } = this.options;
    await blobs.put(`${folder}${n}`, bytes);
    await blobs.delete([damageOf(folder, n)]);
  }

  private report(what: string): void {
    this.options.report?.(
      new Error(`${what} A device that has the file replaces it: files.send().`),
    );
  }
}

/** @param here names of the blobs in the folder */
export const missingIn = ({ chunks }: Manifest, here: ReadonlySet<string>): readonly number[] =>
  chunks.map((_, n) => n).filter((n) => !here.has(String(n)) || here.has(damageOf('', n)));

/** Key of a mark beside a chunk: the chunk is damaged. */
const damageOf = (folder: string, n: number): string => `${folder}damaged-${n}`;

function parsed(bytes: Uint8Array): Manifest | undefined {
  try {
    return manifest(JSON.parse(utf8Text(bytes) ?? ''), 'manifest');
  } catch {
    return undefined;
  }
}
