/** The files of one database in one tab, for the calls of the page: files stored here, and files fetched from the hub. */
import { Refusal } from '../../src/errors.ts';
import type { FileCall, FileData, FileHomeData } from '../../src/host/files.ts';
import { SYNC_LIMITS } from '../../src/limits.ts';
import type { Store } from '../../src/store/port.ts';
import type { FileRecord } from '../../src/sync/device/files/file-store.ts';
import { FileWaiters, RECHECK_MS } from '../../src/sync/device/files/file-waiters.ts';
import { fetchFile } from '../../src/sync/device/files/fetch-file.ts';
import { putFile, usedNow, type FileSource } from '../../src/sync/device/files/put-file.ts';
import { damaged, isToSend, noteHome } from '../../src/sync/device/files/send-files.ts';
import { sweepFiles } from '../../src/sync/device/files/sweep-files.ts';
import { Signal } from '../../src/sync/device/syncer/signal.ts';
import { RefusedByHub } from '../../src/sync/device/syncer/transport.ts';
import {
  fileHome,
  fileName,
  isChunkOf,
  type FileHome,
  type FileName,
} from '../../src/sync/protocol/files.ts';
import { readRequest, SyncRefused } from '../../src/sync/protocol/refusals.ts';
import { abortWith } from '../../hosts/abort-with.ts';
import { pause } from '../browser/pause.ts';
import { wait } from '../browser/wait.ts';
import { closed } from '../queries/long-queries.ts';
import { FileUploads, type FileUploadsOptions } from './file-uploads.ts';
import { isOfTheNetwork, retryMs } from './network-failures.ts';

export interface FilesOptions extends FileUploadsOptions {
  readonly database: Store;
  /** The time in ms since 1970. */
  readonly nowMs: () => number;
  /** The hub has responded, and no request has failed since. */
  readonly isInContact: () => boolean;
}

export class Files {
  readonly uploads: FileUploads;
  private readonly options: FilesOptions;
  private readonly ended = new AbortController();
  private readonly waits = new FileWaiters(wait);
  /** For each file that is being fetched: a promise that resolves when the fetch has ended. */
  private readonly fetching = new Map<FileName, Promise<unknown>>();

  constructor(options: FilesOptions) {
    this.options = options;
    this.uploads = new FileUploads(options, this.ended.signal);
  }

  async put(source: FileSource): Promise<Pick<FileData, 'file' | 'size'>> {
    const file = await putFile(source, this.options);
    // If a stored file was damaged before, documents that refer to it may already be known.
    this.options.askToSend();
    return { file, size: source.size };
  }

  /**
   * @param signal aborts fetching and waiting; chunks that have arrived stay stored
   * @throws Refusal `not found`, `file_not_uploaded`, `connection_needed`, `quota_exceeded`, `local_data_loss`
   */
  async get(call: FileCall, signal?: AbortSignal): Promise<Blob> {
    const file = (await this.read(call, signal)) ?? (await this.read(call, signal));
    if (file) return file;
    throw new Refusal('local_data_loss', NOT_HERE);
  }

  /** Undefined when a chunk is lost or damaged. The next call fetches that chunk again, or throws the reason why it cannot. */
  private async read(call: FileCall, signal: AbortSignal | undefined): Promise<Blob | undefined> {
    const { store } = this.options;
    const record = await this.fetched(call, signal);
    await store.update(record.file, (before) => before && usedNow(before, this.options));
    const parts: BlobPart[] = [];
    for (const n of record.manifest.chunks.keys()) {
      const bytes = await this.chunk(record, n);
      if (!bytes) return undefined;
      parts.push(bytes);
    }
    return new Blob(parts);
  }

  /** Undefined when the chunk is lost or damaged. The file is marked as incomplete then. */
  private async chunk(
    { file, manifest }: FileRecord,
    n: number,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { store, sha256 } = this.options;
    const bytes = await store.chunk(file, n);
    if (bytes && isChunkOf(manifest, n, bytes, sha256)) return bytes as Uint8Array<ArrayBuffer>;
    await store.update(file, (before) => before && damaged(before));
    return undefined;
  }

  /** Ensures that the file is stored here. @throws as `get` */
  async fetch(call: FileCall, signal?: AbortSignal): Promise<void> {
    await this.fetched(call, signal);
  }

  async list(): Promise<readonly FileData[]> {
    const { store } = this.options;
    return (await store.isUsed()) ? (await store.records()).map(dataOf) : [];
  }

  /** Reads all complete files. @returns one sentence for each damaged file */
  async verify(): Promise<readonly string[]> {
    const { store } = this.options;
    if (!(await store.isUsed())) return [];
    for (const record of await store.records())
      for (const n of record.isWhole ? record.manifest.chunks.keys() : []) {
        if (this.ended.signal.aborted) throw closed();
        if (!(await this.chunk(record, n))) break;
      }
    return (await this.list()).flatMap(({ file, state, error }) =>
      state === 'partial' && error !== undefined ? `${file}: ${error}` : [],
    );
  }

  /** @throws Refusal `bad request`, `not found` */
  async send({ file, of }: FileCall): Promise<void> {
    const home = homeOf(of);
    if (!home) throw new Refusal('bad request', 'send() takes the ref of a document: { of: ref }.');
    if ((await this.options.epoch()) === undefined)
      throw new Refusal('bad request', 'There is no hub to send to: call db.sync() first.');
    if (!(await noteHome(nameIn(file), home, this.options.store)))
      throw new Refusal('not found', `The file ${file} is not on this device.`);
    this.options.askToSend();
  }

  /** @throws Refusal `unsent_writes` */
  async remove(file: string): Promise<void> {
    const { store } = this.options;
    const name = nameIn(file);
    if (!(await store.isUsed())) return;
    const isRemoved = await store.remove(name, (record) => !isToSend(record));
    // Checked only if nothing was removed: after a removal, the file may have been put again, which is no error.
    if (!isRemoved && (await store.record(name)))
      throw new Refusal('unsent_writes', `The file ${file} has not reached the hub yet.`);
  }

  /** The hub may now have files that calls wait for. @param files undefined: any file, because the hub can be reached again */
  onArrivals(files?: readonly string[]): void {
    this.waits.wake(files);
  }

  /** Rejects all calls that wait for a file, with the reason. */
  failWaits(reason: Refusal): void {
    this.waits.fail(reason);
  }

  /** The number of files that have not been uploaded yet. */
  async unsent(): Promise<number> {
    return (await this.list()).filter(({ state }) => state === 'unsent').length;
  }

  /** Removes files that nothing refers to any more. */
  async sweep(): Promise<void> {
    const { store, database, nowMs } = this.options;
    if (!(await store.isUsed())) return;
    await sweepFiles(nowMs() - SYNC_LIMITS.filesKeptMs, { store, database, nowMs, pause });
  }

  /** Aborts uploads and fetches: calls that wait for them are rejected. */
  end(): void {
    this.ended.abort();
  }

  close(): void {
    this.end();
    this.options.store.close();
  }

  private async fetched(call: FileCall, signal?: AbortSignal): Promise<FileRecord> {
    if (!call.wait) return this.fetchedNow(call, signal);
    const woken = new Signal();
    const end = (): void => woken.raise();
    let most = 0;
    signal?.addEventListener('abort', end);
    try {
      return await this.waits.until({
        file: call.file,
        woken,
        ask: async (getOn) => {
          signal?.throwIfAborted();
          return this.fetchedNow(call, signal, (done) => {
            // Each attempt first reports the chunks that are already here, which is no progress.
            if (done <= most) return;
            most = done;
            getOn();
          });
        },
        pauseAfter: (reason, failures) =>
          signal?.aborted ? undefined : this.pauseAfter(reason, failures),
      });
    } finally {
      signal?.removeEventListener('abort', end);
    }
  }

  /** How long to wait before the next attempt, in ms. Undefined: waiting does not help. */
  private pauseAfter(reason: unknown, failures: number): number | undefined {
    const { isSyncing, isInContact } = this.options;
    if (!isSyncing() || !(reason instanceof Refusal)) return undefined;
    if (reason.code === 'file_not_uploaded') return RECHECK_MS;
    if (reason.code !== 'connection_needed' || isOfNoFiles(reason.cause)) return undefined;
    return isInContact() ? retryMs(failures) : RECHECK_MS;
  }

  private async fetchedNow(
    { file, of }: FileCall,
    signal: AbortSignal | undefined,
    onDone?: (bytes: number) => void,
  ): Promise<FileRecord> {
    const name = nameIn(file);
    let here = await this.recordOf(name);
    for (;;) {
      if (here?.isWhole) return here;
      const other = this.fetching.get(name);
      if (!other) break;
      await other;
      here = await this.recordOf(name);
    }
    const fetching = this.fetchNow({ file: name, home: homeOf(of) }, signal, onDone);
    this.fetching.set(
      name,
      fetching.catch(() => undefined).then(() => this.fetching.delete(name)),
    );
    await fetching;
    const fetched = await this.recordOf(name);
    if (!fetched?.isWhole) throw closed();
    if (isToSend(fetched)) this.options.askToSend();
    return fetched;
  }

  private async fetchNow(
    { file, home }: { readonly file: FileName; readonly home: FileHome | undefined },
    given: AbortSignal | undefined,
    onDone?: (bytes: number) => void,
  ): Promise<void> {
    const { transport, epoch, emit } = this.options;
    if (!home) throw new Refusal('not found', NOT_HERE);
    const stop = abortWith(this.ended.signal, given);
    try {
      const hub = transport(stop.signal);
      if (!hub) throw new Refusal('connection_needed', OUT_OF_REACH);
      await fetchFile({ file, home }, hub, this.options, {
        epoch: await epoch(),
        isAbandoned: () => stop.signal.aborted,
        onProgress: ({ done, size, error }) => {
          onDone?.(done);
          emit({ file, way: 'fetching', done, size, error });
        },
      });
    } catch (reason) {
      if (!this.ended.signal.aborted) throw asRefusal(reason);
    } finally {
      stop.abort();
    }
  }

  private async recordOf(file: FileName): Promise<FileRecord | undefined> {
    const { store } = this.options;
    return (await store.isUsed()) ? store.record(file) : undefined;
  }
}

const NOT_HERE =
  'The file is not on this device, or a part of it is damaged: put it, or name a document that refers to it: get(file, { of: ref }).';
const OUT_OF_REACH =
  'The file is not whole on this device, and there is no connection to a hub. Received parts are kept.';

function dataOf({ file, manifest, isWhole, unsent, sent, failed }: FileRecord): FileData {
  const state = !isWhole
    ? 'partial'
    : unsent.length > 0
      ? 'unsent'
      : sent.length > 0
        ? 'sent'
        : failed !== undefined
          ? 'refused'
          : 'here';
  return { file, size: manifest.size, state, error: failed };
}

const nameIn = (file: unknown): FileName =>
  readOr(() => readRequest(fileName, file, 'file'), 'The file must be what put() returned.');

const homeOf = (of: FileHomeData | undefined): FileHome | undefined =>
  of &&
  readOr(
    () => readRequest(fileHome, [of.collection, of.id], 'of'),
    '`of` must be the ref of a document.',
  );

/** @throws Refusal `bad request` */
function readOr<T>(read: () => T, otherwise: string): T {
  try {
    return read();
  } catch (reason) {
    if (reason instanceof SyncRefused) throw new Refusal('bad request', otherwise);
    throw reason;
  }
}

function asRefusal(reason: unknown): unknown {
  if (!(reason instanceof RefusedByHub))
    return isOfTheNetwork(reason)
      ? new Refusal('connection_needed', OUT_OF_REACH, { cause: reason })
      : reason;
  const { code, description } = reason.refusal;
  const own = OWN_CODES[code];
  return new Refusal(own ?? 'connection_needed', description, { cause: reason });
}

/** The page's codes for refusals of the hub. */
const OWN_CODES: Readonly<Partial<Record<string, 'not found' | 'file_not_uploaded'>>> = {
  file_not_found: 'not found',
  file_not_uploaded: 'file_not_uploaded',
};

const isOfNoFiles = (cause: unknown): boolean =>
  cause instanceof RefusedByHub && cause.refusal.code === 'no_files';
