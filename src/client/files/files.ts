import { filesIn } from '../../codec/file-names.ts';
import type { FileCall, FileData, FileProgress } from '../../host/files.ts';
import { NotFound, UsageError } from '../errors.ts';
import {
  flag,
  option,
  optional,
  type OptionRow,
  type OptionTable,
  type OptionType,
} from '../../host/options.ts';
import { abortSignal, anyText, callable, readOptions } from '../read-options.ts';
import type { HostCall, DatabaseWorker } from '../connection/database-worker.ts';
import type { BlobLike } from '../../host/log.ts';
import { q } from '../queries/builders.ts';
import type { Client } from '../queries/client.ts';
import { queryText } from '../queries/query-text.ts';
import type { StoredDocument } from '../queries/types/documents.ts';
import { isRef, type Expr, type Ref, type SetRef } from '../queries/values.ts';
import { TypedEvents } from '../typed-events.ts';

/** A reference to a file, to be stored in a document. Only `file` is needed to read the file. */
export interface FileRef {
  /** Name of the file's contents: `file:` and a hash of the bytes. */
  readonly file: string;
  /** Size in bytes. */
  readonly size: number;
  /** Media type, such as `image/jpeg`; empty when it is not known. */
  readonly type: string;
  readonly name?: string;
}

/** A file on this device. */
export type StoredFile = FileData;

export interface FilesEvents {
  /** A part of a file was sent to the hub or received from it, in this tab or another. */
  progress: CustomEvent<FileProgress>;
}

export interface FileOptions {
  /** A document that refers to the file: whoever may read the document may read the file. */
  readonly of?: Ref;
}

export interface FileReadOptions extends FileOptions {
  /**
   * Waits until the file can be fetched, even while the hub cannot be reached or the device that has the file has not sent it yet. Only in
   * a database that syncs, and with `of`.
   */
  readonly wait?: boolean;
  /**
   * Ends fetching and waiting; the call rejects with the signal's reason. The parts received are kept, and the next call continues from
   * there.
   */
  readonly signal?: AbortSignal;
}

/**
 * Files that documents refer to, such as photos. They are stored beside the documents, outside the query store. A document refers to a file
 * by storing the return value of `put()`. In a copy of a hub's database, the file is sent once the hub has confirmed the write of the
 * document.
 * @example
 * const photo = await db.files.put(new Blob(['…'], { type: 'image/jpeg' }));
 * const kept = await db.client().query(q.Create('notes', { data: { photo } }));
 * const blob = await db.files.get(photo, { of: kept.ref });
 * console.log(blob.type, blob.size); // image/jpeg 3
 */
export class Files extends TypedEvents<FilesEvents> {
  readonly #worker: DatabaseWorker;

  /** @internal */
  constructor(worker: DatabaseWorker) {
    super();
    this.#worker = worker;
    worker.listen({
      onMessage: (message) => {
        if (message.type === 'sync-file')
          this.dispatchEvent(new CustomEvent('progress', { detail: message.progress }));
      },
    });
  }

  /**
   * Stores a file on this device. Equal files are stored once. A file that no document refers to within a day is removed.
   * @param blob at most 1 GiB; a hub may accept less
   * @param options `name`: name of the file; by default that of a `File`
   * @throws QueryError `quota_exceeded`, `request too large`
   */
  async put(blob: Blob, options: { readonly name?: string } = {}): Promise<FileRef> {
    if (!(blob instanceof Blob)) throw new UsageError('put() takes a Blob or a File.');
    const { name = (blob as Partial<File>).name } = readOptions({ name: anyText }, options);
    const stored = await this.#worker.call((host) => host.putFile(blob));
    return { ...stored, type: blob.type, ...(name !== undefined && { name }) };
  }

  /**
   * Returns a file from this device or, in a copy that has contact with its hub, from the hub.
   * @param file a `FileRef` from a document, or its `file`
   * @throws QueryError `not found` when the file is not on this device and `of` is left out, or when the user may not read the document;
   * only without `wait`: `file_not_uploaded` when the device that has the file has not sent it yet, and `connection_needed`;
   * `quota_exceeded`
   * @throws the reason of the signal
   */
  async get(file: FileRef | string, options: FileReadOptions = {}): Promise<Blob> {
    const call = callOf(file, options);
    const get: HostCall<BlobLike> = (host, number) => host.getFile({ ...call, number });
    const blob = (await this.#worker.call(get, options.signal)) as Blob;
    const type = typeof file === 'string' ? '' : file.type;
    return blob.slice(0, blob.size, type);
  }

  /** Stores the file on this device, so that it can be read without a network. @throws as `get` */
  async fetch(file: FileRef | string, options: FileReadOptions = {}): Promise<void> {
    const call = callOf(file, options);
    await this.#worker.call((host, number) => host.fetchFile({ ...call, number }), options.signal);
  }

  /**
   * Stores all files that the documents of a set refer to on this device, so that they can be read without a network. Called again, it
   * fetches new files, and continues where it was interrupted.
   * @param client reads the set, for example `sync.client`
   * @returns `files`: how many files the documents refer to. `notUploaded`: names of those that have not reached the hub yet
   * @throws as `get`, and as `paginate`
   * @example
   * const { files, notUploaded } = await db.files.fetchAll(db.client(), q.Documents(notes));
   * console.log(files, notUploaded.length); // 0 0
   */
  async fetchAll(
    client: Pick<Client, 'paginate'>,
    set: Expr<SetRef>,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<{ readonly files: number; readonly notUploaded: readonly string[] }> {
    readOptions({ signal: abortSignal }, options);
    if (!callable.accepts((client as Partial<typeof client> | null)?.paginate))
      throw new UsageError('fetchAll() takes a client and a set.');
    const files = new Set<string>();
    const missing = new Set<string>();
    const pages = client.paginate(set, {}, options).map((ref) => q.Get(ref as Ref));
    for await (const page of pages)
      for (const { ref, data } of page as readonly StoredDocument<unknown>[])
        for (const file of filesIn(queryText(data ?? null))) {
          if (files.has(file) && !missing.has(file)) continue;
          options.signal?.throwIfAborted();
          files.add(file);
          try {
            await this.fetch(file, { ...options, of: ref });
            missing.delete(file);
          } catch (error) {
            // The document may not have reached the hub yet, or may have been deleted there.
            if (!(error instanceof NotFound)) throw error;
            missing.add(file);
          }
        }
    return { files: files.size, notUploaded: [...missing] };
  }

  /**
   * Sends a file from this device to the hub, for a document there that refers to it. This is needed only for documents that were not
   * written through this device's outbox: by a query `{ at: 'hub' }`, by a function, or by another device.
   * @throws QueryError `bad request` in a database without a hub: call `db.sync()` first; `not found` when the file is not on this device
   */
  async send(file: FileRef | string, options: Required<FileOptions>): Promise<void> {
    const call = callOf(file, options, SEND_OPTIONS);
    await this.#worker.call((host) => host.sendFile(call));
  }

  /** Lists the files on this device with their states. */
  async list(): Promise<readonly StoredFile[]> {
    return this.#worker.ask((host) => host.files());
  }

  /**
   * Resolves when no file is waiting to be sent: the hub has received or refused each of them.
   * @throws DatabaseClosed, DatabaseLocked when the database is closed or locked before that
   */
  async whenSent(): Promise<void> {
    for (;;) {
      let stop = (): void => undefined;
      const told = new Promise<void>((resolve) => {
        stop = this.#worker.listen({
          onMessage: (message) => {
            if (message.type !== 'sync-file') return;
            const { way, done, size } = message.progress;
            if (way === 'sending' && done >= size) resolve();
          },
          // Another worker may go on sending: the next call of `list()` tells.
          onEnded: () => resolve(),
        });
      });
      try {
        if ((await this.list()).every(({ state }) => state !== 'unsent')) return;
        await told;
      } finally {
        stop();
      }
    }
  }

  /** Deletes a file from this device. @throws QueryError `unsent_writes` while the file is waiting to be sent to the hub */
  async remove(file: FileRef | string): Promise<void> {
    const { file: name } = callOf(file);
    await this.#worker.call((host) => host.removeFile(name));
  }
}

const homed: OptionType<Ref> = {
  expected: 'the ref of a document',
  accepts: (given): given is Ref => isRef(given) && given.collection !== undefined,
};

const SEND_OPTIONS = { of: optional(homed) } satisfies Record<keyof FileOptions, OptionRow>;
const READ_OPTIONS = {
  ...SEND_OPTIONS,
  wait: option(flag, false),
  signal: abortSignal,
} satisfies Record<keyof FileReadOptions, OptionRow>;

function callOf(
  file: FileRef | string,
  options: FileReadOptions = {},
  table: OptionTable = READ_OPTIONS,
): FileCall {
  readOptions(table, options);
  const { of, wait } = options;
  const name: unknown = typeof file === 'string' ? file : (file as Partial<FileRef> | null)?.file;
  if (typeof name !== 'string') throw new UsageError('A file must be what put() returned.');
  return { file: name, of: of && { collection: of.collection?.id ?? '', id: of.id }, wait };
}
