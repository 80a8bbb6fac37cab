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
import type { HostCall, Link } from '../connection/link.ts';
import type { BlobLike } from '../../host/log.ts';
import { q } from '../queries/builders.ts';
import type { Client } from '../queries/client.ts';
import { queryText } from '../queries/query-text.ts';
import type { StoredDocument } from '../queries/types/documents.ts';
import { isRef, type Expr, type Ref, type SetRef } from '../queries/values.ts';
import { TypedEvents } from '../typed-events.ts';

/** What a document keeps of a file. Only `file` is needed to get it back. */
export interface FileRef {
  /** Names the bytes: `file:` and a hash of them. */
  readonly file: string;
  /** Bytes. */
  readonly size: number;
  /** Media type, such as `image/jpeg`; empty when it is not known. */
  readonly type: string;
  readonly name?: string;
}

/** A file on this device. */
export type StoredFile = FileData;

export interface FilesEvents {
  /** A part of a file was sent to the hub, or came from it, in this tab or another. */
  progress: CustomEvent<FileProgress>;
}

export interface FileOptions {
  /** A document that refers to the file: rights to it are those to the document. */
  readonly of?: Ref;
}

export interface FileReadOptions extends FileOptions {
  /**
   * Waits for a file that the device which has it has not sent yet, and for the hub while it cannot be reached: the call resolves when the
   * file has come. Only in a database that syncs, and with `of`.
   */
  readonly wait?: boolean;
  /** Ends fetching, and waiting, with its reason. What has come stays, and the next call goes on there. */
  readonly signal?: AbortSignal;
}

/**
 * Files beside documents, such as photos. They are stored outside the query store. A document refers to a file by keeping what `put()`
 * returned; in a copy of a hub's database the file is sent once the hub has confirmed the write of the document.
 * @example
 * const photo = await db.files.put(new Blob(['…'], { type: 'image/jpeg' }));
 * const kept = await db.client().query(q.Create('notes', { data: { photo } }));
 * const blob = await db.files.get(photo, { of: kept.ref });
 * console.log(blob.type, blob.size); // image/jpeg 3
 */
export class Files extends TypedEvents<FilesEvents> {
  readonly #link: Link;

  /** @internal */
  constructor(link: Link) {
    super();
    this.#link = link;
    link.listen({
      onMessage: (message) => {
        if (message.type === 'sync-file')
          this.dispatchEvent(new CustomEvent('progress', { detail: message.progress }));
      },
    });
  }

  /**
   * Stores a file on this device. The same bytes are stored once. One that no document refers to within a day is removed.
   * @param blob of at most 1 GiB; a hub may take less
   * @param options `name`: that of a `File` if it is left out
   * @throws QueryError `quota_exceeded`, `request too large`
   */
  async put(blob: Blob, options: { readonly name?: string } = {}): Promise<FileRef> {
    if (!(blob instanceof Blob)) throw new UsageError('put() takes a Blob or a File.');
    const { name = (blob as Partial<File>).name } = readOptions({ name: anyText }, options);
    const stored = await this.#link.call((host) => host.putFile(blob));
    return { ...stored, type: blob.type, ...(name !== undefined && { name }) };
  }

  /**
   * A file, from this device, or from the hub in a copy that is in contact with it.
   * @param file what a document has of it, or its name
   * @throws QueryError `not found` when it is not here and `of` is left out, or the document is not the user's to read;
   * `file_not_uploaded` when the device that has it has not sent it yet, and `connection_needed`, both only without `wait`;
   * `quota_exceeded`; the reason of the signal
   */
  async get(file: FileRef | string, options: FileReadOptions = {}): Promise<Blob> {
    const call = callOf(file, options);
    const get: HostCall<BlobLike> = (host, number) => host.getFile({ ...call, number });
    const blob = (await this.#link.call(get, options.signal)) as Blob;
    const type = typeof file === 'string' ? '' : file.type;
    return blob.slice(0, blob.size, type);
  }

  /** Has it on this device, for later without network. @throws as `get` */
  async fetch(file: FileRef | string, options: FileReadOptions = {}): Promise<void> {
    const call = callOf(file, options);
    await this.#link.call((host, number) => host.fetchFile({ ...call, number }), options.signal);
  }

  /**
   * Has the files here that documents of a set refer to: what a user is to have without network. Called again it fetches what is new, and
   * goes on where it was cut off.
   * @param client that reads the set, such as `sync.client`
   * @returns how many files the documents refer to, and those of them that no hub has yet
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
            // The hub may not know the document yet, or not any more.
            if (!(error instanceof NotFound)) throw error;
            missing.add(file);
          }
        }
    return { files: files.size, notUploaded: [...missing] };
  }

  /**
   * Sends a file that is here to the hub, under a document there that refers to it. Only needed for documents that were not written by
   * this device's outbox: those of queries `{ at: 'hub' }`, of functions, of other devices.
   * @throws QueryError `bad request` in a database that has no hub: `db.sync()` first; `not found` when the file is not here
   */
  async send(file: FileRef | string, options: Required<FileOptions>): Promise<void> {
    const call = callOf(file, options, SEND_OPTIONS);
    await this.#link.call((host) => host.sendFile(call));
  }

  /** Files on this device, with what has become of them. */
  async list(): Promise<readonly StoredFile[]> {
    return this.#link.ask((host) => host.files());
  }

  /**
   * Resolves when no file is on its way to the hub: it has them, or has refused them.
   * @throws DatabaseClosed, DatabaseLocked when that happens meanwhile
   */
  async whenSent(): Promise<void> {
    for (;;) {
      let stop = (): void => undefined;
      const told = new Promise<void>((resolve) => {
        stop = this.#link.listen({
          onMessage: (message) => {
            if (message.type !== 'sync-file') return;
            const { way, done, size } = message.progress;
            if (way === 'sending' && done >= size) resolve();
          },
          // The next look says whether another worker goes on.
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

  /** Frees the room of a file on this device. @throws QueryError `unsent_writes` while it is on its way to the hub */
  async remove(file: FileRef | string): Promise<void> {
    const { file: name } = callOf(file);
    await this.#link.call((host) => host.removeFile(name));
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
