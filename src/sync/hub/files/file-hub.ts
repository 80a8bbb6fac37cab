/**
 * The hub's side of files. A file is stored once for each document that refers to it, under the document's numbers, which do not change if
 * something is renamed. Whoever may read the document may download the file; whoever may read the document and has the bytes may upload it.
 * Knowing the name of a file is not enough to get it: under another document it exists only if its bytes were uploaded there, too.
 */
import type { Engine } from '../../../engine/engine.ts';
import type { EngineContext } from '../../../engine/context.ts';
import { keyOf, liveVersion } from '../../../engine/documents.ts';
import type { BodyInput } from '../../../engine/transactions.ts';
import { hexOfBytes } from '../../../codec/hex.ts';
import { utf8Bytes, utf8Text } from '../../../codec/utf8.ts';
import { Ref } from '../../../values/value.ts';
import {
  fileName,
  fileHome,
  fileNameOf,
  isChunkOf,
  manifest,
  type FileHome,
  type FileName,
  type FilePlace,
  type Manifest,
  type MissingChunks,
} from '../../protocol/files.ts';
import { readRequest, SyncRefused } from '../../protocol/refusals.ts';
import { callerOfDevice, type CallerHost } from '../rights/device-caller.ts';
import { ReadRights } from '../rights/read-rights.ts';
import type { BlobStore } from './blob-store.ts';
import { missingIn, StoredBytes } from './stored-bytes.ts';
import { Uploads } from './uploads.ts';

export interface FileHubOptions extends CallerHost {
  readonly engine: Pick<Engine, 'transactions'>;
  readonly blobs: BlobStore;
  /** Maximum size of a file; at most `SYNC_LIMITS.fileBytes`. */
  readonly fileBytes: number;
  /** Receives an error for each damaged file. */
  readonly report?: ((reason: unknown) => void) | undefined;
}

/** Each method rejects with `SyncRefused` if the caller may not read the document, or the document does not refer to the file. */
export class FileHub {
  private readonly options: FileHubOptions;
  private readonly bytes: StoredBytes;
  private readonly uploads = new Uploads();
  private readonly announcing = new Map<string, Promise<void>>();
  /** Folders of files that a sweep is checking or removing. An upload to such a folder waits for the end. */
  private readonly sweeping = new Map<string, Promise<boolean>>();

  constructor(options: FileHubOptions) {
    this.options = options;
    this.bytes = new StoredBytes(options);
  }

  /** Begins or resumes an upload. @throws SyncRefused `file_not_found`, `file_too_large`, `storage_full`, `bad_message` */
  async begin(secret: string, place: unknown, parts: unknown): Promise<MissingChunks> {
    const { blobs, fileBytes, sha256 } = this.options;
    const named = placeIn(place);
    const given = readRequest(manifest, parts, 'manifest');
    if (fileNameOf(given, sha256) !== named.file)
      throw new SyncRefused('bad_message', 'The manifest belongs to another file.');
    if (given.size > fileBytes)
      throw new SyncRefused(
        'file_too_large',
        `The file has ${given.size} bytes; this hub accepts at most ${fileBytes}.`,
      );
    const stored = await this.storedFor(secret, named);
    const folder = folderIn(stored);
    await this.sweeping.get(folder);
    await this.bytes.putManifest(folder, given);
    const missing = await this.missingOf(folder, given);
    if (missing.length === 0) await this.announce(stored);
    else {
      this.uploads.begin(folder, missing);
      await blobs.delete([`${folder}${ANNOUNCED}`]);
    }
    return { missing };
  }

  /** @throws SyncRefused `file_not_uploaded` before `begin`, `storage_full`, `bad_message` if the bytes do not match the hash */
  async write(secret: string, place: unknown, n: number, bytes: Uint8Array): Promise<void> {
    const { sha256 } = this.options;
    const stored = await this.storedFor(secret, placeIn(place));
    const folder = folderIn(stored);
    await this.sweeping.get(folder);
    const known = await this.bytes.manifest({ ...stored, folder });
    // A hub that was restored in the meantime has lost the upload. The device begins again.
    if (!known)
      throw new SyncRefused('file_not_uploaded', 'The upload of this file has not been started.');
    if (!isChunkOf(known, n, bytes, sha256))
      throw new SyncRefused('bad_message', `The bytes are not chunk ${n} of the file.`);
    await this.bytes.putChunk(folder, n, bytes);
    if (!this.uploads.mayComplete(folder, n)) return;
    if ((await this.missingOf(folder, known)).length === 0) await this.announce(stored);
  }

  /** The manifest of a file of which all chunks are stored. @throws SyncRefused `file_not_found`, `file_not_uploaded` */
  async manifest(secret: string, place: unknown): Promise<Manifest> {
    const stored = await this.storedFor(secret, placeIn(place));
    const folder = folderIn(stored);
    const known = await this.bytes.manifest({ ...stored, folder });
    if (known && (await this.missingOf(folder, known)).length === 0) return known;
    throw notUploaded();
  }

  /** @throws SyncRefused `file_not_found`, `file_not_uploaded` */
  async read(secret: string, place: unknown, n: number): Promise<Uint8Array> {
    const stored = await this.storedFor(secret, placeIn(place));
    const bytes = await this.bytes.chunk({ ...stored, folder: folderIn(stored) }, n);
    if (!bytes) throw notUploaded();
    return bytes;
  }

  /**
   * Removes files to which their documents no longer refer.
   * @param before files uploaded since then, or checked by an upload since then, are kept, ms since the Unix epoch
   * @returns how many files were removed
   */
  async sweep(before: number): Promise<number> {
    let removed = 0;
    for await (const { folder, keys, putMs } of this.stored()) {
      const stored = putMs < before ? storedIn(folder) : undefined;
      if (!stored) continue;
      // Set before the document is read: an upload that finds the reference in the document also finds this entry, and waits.
      const removing = this.removeUnlessReferred(stored, folder, keys);
      this.sweeping.set(folder, removing);
      try {
        if (await removing) removed += 1;
      } finally {
        this.sweeping.delete(folder);
      }
    }
    return removed;
  }

  private async removeUnlessReferred(
    stored: StoredFile,
    folder: string,
    keys: readonly string[],
  ): Promise<boolean> {
    const { blobs, clock, random } = this.options;
    if (await this.isReferred(stored)) return false;
    const mark = `${folder}${REMOVING}${hexOfBytes(random(8))}`;
    const begun = clock();
    await blobs.put(mark, utf8Bytes(String(begun)));
    try {
      // Checks again: a hub over the same files that sees a new reference from now on also sees the mark.
      if (await this.isReferred(stored)) return false;
      // If this hub was frozen in between, other hubs may soon ignore the mark, so it must not remove anything.
      if (clock() > begun + REMOVAL_MAX_MICROS / 2) return false;
      await blobs.delete(keys);
      return true;
    } finally {
      await blobs.delete([mark]);
    }
  }

  private async *stored() {
    let current: { folder: string; keys: string[]; putMs: number } | undefined;
    for await (const { key, putMs } of this.options.blobs.list('')) {
      const folder = key.slice(0, key.lastIndexOf('/') + 1);
      if (current?.folder !== folder) {
        if (current) yield current;
        current = { folder, keys: [], putMs: 0 };
      }
      current.keys.push(key);
      current.putMs = Math.max(current.putMs, putMs);
    }
    if (current) yield current;
  }

  private isReferred({ ref, file }: StoredFile): Promise<boolean> {
    return this.inTransaction(({ writer }) => {
      const row = writer.row({ space: 'documents', key: keyOf(ref) });
      return String(row?.value ?? '').includes(file);
    });
  }

  private async missingOf(folder: string, known: Manifest): Promise<readonly number[]> {
    const here = new Set<string>();
    for await (const { key } of this.options.blobs.list(folder)) here.add(key.slice(folder.length));
    for (const name of here) if (name.startsWith(REMOVING)) await this.requireOver(folder + name);
    return missingIn(known, here);
  }

  /** @throws SyncRefused `file_not_uploaded` while another hub removes this file */
  private async requireOver(mark: string): Promise<void> {
    const { blobs, clock } = this.options;
    const begun = await blobs.get(mark);
    if (begun && clock() < Number(utf8Text(begun)) + REMOVAL_MAX_MICROS)
      throw new SyncRefused(
        'file_not_uploaded',
        'The hub is removing an earlier copy of this file: send it again in a moment.',
      );
  }

  /**
   * Announces a complete file, once. It writes the document unchanged, which adds it to the log of changes, so every device that pulls the
   * document learns that its files may have come. Hints, rights, other hubs and devices that were offline work as for any change.
   */
  private announce(stored: StoredFile): Promise<void> {
    const mark = `${folderIn(stored)}${ANNOUNCED}`;
    const running =
      this.announcing.get(mark) ??
      this.announceNow(stored, mark).finally(() => this.announcing.delete(mark));
    this.announcing.set(mark, running);
    return running;
  }

  private async announceNow({ ref, file }: StoredFile, mark: string): Promise<void> {
    const { blobs, clock, engine } = this.options;
    if (await blobs.get(mark)) return;
    await engine.transactions.write(({ writer, head }) => {
      const row = writer.row({ space: 'documents', key: keyOf(ref) });
      const isReferred = row !== undefined && String(row.value).includes(file);
      if (isReferred) writer.put('documents', row);
      return { value: undefined, ts: Math.max(clock(), head) + 1 };
    });
    // Stored after the commit: a hub that dies in between announces the file twice, which does no harm.
    await blobs.put(mark, new Uint8Array(1));
  }

  /** Finds the document by its numbers, and checks that the caller may read it. @throws SyncRefused */
  private storedFor(secret: string, { file, home }: FilePlace): Promise<StoredFile> {
    const { clock } = this.options;
    const request = { secret, started: clock() };
    return this.inTransaction((input) => {
      const device = callerOfDevice(request, input, input.writer, this.options);
      const ref = refOf(device.context, home);
      const version = ref && liveVersion(device.context, ref, 'present');
      const isReadable =
        version !== undefined &&
        new ReadRights(device).mayRead(version.row.key) &&
        String(version.row.value).includes(file);
      if (!ref || !isReadable)
        throw new SyncRefused(
          'file_not_found',
          'There is no such document for this user, or it does not refer to the file.',
        );
      return { ref, file };
    });
  }

  private async inTransaction<T>(body: (input: BodyInput) => T): Promise<T> {
    const { value } = await this.options.engine.transactions.read((input) => ({
      value: body(input),
    }));
    return value;
  }
}

const placeIn = (place: unknown): FilePlace => {
  const { file, home } = (place ?? {}) as Partial<FilePlace>;
  return {
    file: readRequest(fileName, file, 'file'),
    home: readRequest(fileHome, home, 'document'),
  };
};

/** Undefined if there is no such collection. */
function refOf(context: EngineContext, [collection, id]: FileHome): Ref | undefined {
  const { database } = context;
  const schema = context.schema(database);
  const found =
    typeof collection === 'number'
      ? schema.byId('collections', BigInt(collection))
      : schema.byName('collections', collection);
  return found && new Ref(database, Number(found.ref.id), BigInt(id));
}

interface StoredFile {
  readonly ref: Ref;
  readonly file: FileName;
}

/** Name of a mark beside the chunks: the file has been announced. */
const ANNOUNCED = 'announced';
/** Prefix of marks beside the chunks: a hub is removing them. The content is the time at which it began, µs. */
const REMOVING = 'removing-';
/** A hub that has not finished a removal within this time is assumed to have stopped. */
const REMOVAL_MAX_MICROS = 300_000_000;

const folderIn = ({ ref: { database, collection, id }, file }: StoredFile): string =>
  `${database}/${collection}/${id}/${file.slice('file:'.length)}/`;

/** Undefined if the folder was not made by a hub. */
function storedIn(folder: string): StoredFile | undefined {
  const found = /^(\d+)\/(\d+)\/(\d+)\/([\da-f]{64})\/$/.exec(folder);
  if (!found) return undefined;
  const [, database, collection, id = '', hash = ''] = found;
  return {
    ref: new Ref(Number(database), Number(collection), BigInt(id)),
    file: `file:${hash}`,
  };
}

const notUploaded = (): SyncRefused =>
  new SyncRefused(
    'file_not_uploaded',
    'The file is not at the hub yet: the device that has it has not sent all of it.',
  );
