/** Manifests and chunks as they are stored, checked by their hashes when they are read: a disk may have changed them since. */
import { utf8Bytes, utf8Text } from '../../../codec/utf8.ts';
import { remember } from '../../../values/remember.ts';
import {
  fileNameOf,
  isChunkOf,
  manifest,
  type FileName,
  type Manifest,
  type Sha256,
} from '../../protocol/files.ts';
import type { BlobStore } from './blob-store.ts';

export interface StoredBytesOptions {
  readonly blobs: BlobStore;
  readonly sha256: Sha256;
  /** Told of each chunk that is found to be damaged, once, and of each manifest. */
  readonly report?: ((reason: unknown) => void) | undefined;
}

/** Where a file is stored. */
export interface FileFolder {
  /** Ends in `/`. */
  readonly folder: string;
  readonly file: FileName;
}

const MANIFESTS_MAX = 64;

export class StoredBytes {
  private readonly options: StoredBytesOptions;
  /** By folder: each chunk that is read is checked by one. */
  private readonly manifests = new Map<string, Manifest>();

  constructor(options: StoredBytesOptions) {
    this.options = options;
  }

  /** Undefined: none is there, or not that of the file. */
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

  /** Undefined: it is not there, or damaged, and counts as missing from then on. */
  async chunk(at: FileFolder, n: number): Promise<Uint8Array | undefined> {
    const { blobs, sha256 } = this.options;
    const { folder, file } = at;
    const known = this.manifests.get(folder) ?? (await this.manifest(at));
    if (!known) return undefined;
    // Twice: it may be the way from the disk or the bucket that has changed it.
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

  /** Replaces one that was damaged, too. */
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

/** @param here names of what is in the folder */
export const missingIn = ({ chunks }: Manifest, here: ReadonlySet<string>): readonly number[] =>
  chunks.map((_, n) => n).filter((n) => !here.has(String(n)) || here.has(damageOf('', n)));

/** Beside a chunk: it was found to be damaged. */
const damageOf = (folder: string, n: number): string => `${folder}damaged-${n}`;

function parsed(bytes: Uint8Array): Manifest | undefined {
  try {
    return manifest(JSON.parse(utf8Text(bytes) ?? ''), 'manifest');
  } catch {
    return undefined;
  }
}
