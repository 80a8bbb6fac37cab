/**
 * `burrowdb/adopt`: copies a local database to a hub. Each document becomes one write of a copy, with a verdict like any other write.
 * Therefore an interruption loses no document, and none is created twice.
 */
import {
  BadRequest,
  NotFound,
  OutboxFull,
  PermissionDenied,
  q,
  type Database,
  type Expr,
  type JudgedWrite,
  type QueryError,
  type Ref,
  type Sync,
  type Write,
} from '../index.ts';
import { documentsToAdopt, type DocumentToAdopt } from './documents.ts';
import type { AdoptOptions, LocalDocument } from './options.ts';

export { AdoptRefused } from './refused.ts';
export type { Adopted, AdoptOptions, AdoptProgress, LocalDocument } from './options.ts';

/** A document that the hub would refuse. */
export interface Clash {
  readonly ref: Ref;
  /** The reason, as a sentence. */
  readonly description: string;
}

export interface AdoptionPlan {
  readonly documents: number;
  readonly clashes: readonly Clash[];
  /** `hub` if the hub was asked; without a connection `device`: the copy, which may lack documents that clash. */
  readonly checkedBy: 'hub' | 'device';
}

export interface Adoption {
  /** Number of documents that this call stored in the outbox. */
  readonly submitted: number;
  /** Number of documents that an earlier call stored there. */
  readonly known: number;
  /** Documents that failed on this device already. They are not in the outbox; the next call of `adopt()` tries them again. */
  readonly failed: readonly Clash[];
  /**
   * Resolves when the hub has judged all the writes, also those of earlier calls. `refused` has the refused writes; they stay in
   * `sync.writes`.
   */
  readonly settled: Promise<{ readonly refused: readonly JudgedWrite[] }>;
}

/** Number of documents that are tried in one query, unless the query gets too large. */
const TRIED_TOGETHER = 100;
const TOO_MUCH: readonly string[] = ['limit_exceeded', 'request too large', 'time out'];
/** How many writes may wait for the hub: an outbox holds 10,000, and the app needs room for its own writes. */
const WAITING_MAX = 5000;
const DRY_RUN = 'burrow: this was a dry run';

/**
 * Reports what `adopt()` would do, without doing it: which documents would be refused, and why.
 * @throws AdoptRefused when the hub lacks a collection, or the copy keeps no set of it
 * @example
 * const alone = await openDatabase('alone');
 * const { clashes } = await planAdoption(alone, sync);
 * console.log(clashes.map(({ ref, description }) => `${ref.id}: ${description}`)); // []
 * await alone.close();
 */
export async function planAdoption(
  local: Database,
  sync: Sync,
  options: AdoptOptions = {},
): Promise<AdoptionPlan> {
  const documents = await documentsToAdopt(local, sync, options);
  const isLive = sync.state === 'live' || sync.state === 'catching-up';
  const at = isLive ? ({ at: 'hub' } as const) : {};
  const { signal } = options;
  /** Undefined if the writes would succeed. */
  const failureOf = async (writes: readonly Expr[]): Promise<QueryError | undefined> => {
    try {
      await sync.client.query([...writes, q.Abort(DRY_RUN)], {
        ...at,
        ...(signal && { signal }),
      });
    } catch (error) {
      const failure = error as QueryError;
      const isTooMuch = writes.length > 1 && TOO_MUCH.includes(failure.code);
      if (!isOfDocument(error) && !isTooMuch) throw error;
      const isTried = failure.code === 'transaction aborted' && failure.description === DRY_RUN;
      return isTried ? undefined : failure;
    }
    throw new Error('A query that aborts has an error.');
  };
  const clashes: Clash[] = [];
  /** Splits the documents in halves until the failing ones are found. @param made the documents before them, with which they may clash */
  const check = async (part: readonly DocumentToAdopt[], made: DocumentToAdopt[]) => {
    const error = await failureOf([...made, ...part].map(({ write }) => write));
    const [first, ...others] = part;
    if (!first || !error) made.push(...part);
    else if (others.length > 0) {
      const middle = part.length >> 1;
      await check(part.slice(0, middle), made);
      await check(part.slice(middle), made);
    } else if (made.length > 0 && TOO_MUCH.includes(error.code)) {
      made.length = 0;
      await check(part, made);
    } else clashes.push({ ref: first.ref, description: error.description });
  };
  const { length } = documents;
  for (let from = 0; from < length; from += TRIED_TOGETHER) {
    options.onProgress?.({ phase: 'checking', done: from, total: length });
    await check(documents.slice(from, from + TRIED_TOGETHER), []);
  }
  options.onProgress?.({ phase: 'checking', done: length, total: length });
  return { documents: length, clashes, checkedBy: isLive ? 'hub' : 'device' };
}

/**
 * Copies a local database to the hub of a copy: submits each document to the copy as a write of its own. It works with or without a
 * network. After an interruption, call it again with the same arguments, and it continues. A document that the hub already has with the
 * same data is left as it is; with other data it is refused. When `failed` and `refused` are empty, the local database is no longer
 * needed: `local.destroy()`.
 * @throws AdoptRefused when the hub lacks a collection, the copy keeps no set of it, or an option is wrong; nothing was written then
 * @example
 * const alone = await openDatabase('alone');
 * const { failed, settled } = await adopt(alone, sync);
 * const { refused } = await settled;
 * if (failed.length + refused.length === 0) await alone.destroy();
 */
export async function adopt(
  local: Database,
  sync: Sync,
  options: AdoptOptions = {},
): Promise<Adoption> {
  const documents = await documentsToAdopt(local, sync, options);
  const { onProgress, signal } = options;
  const label = options.label ?? labelOf;
  const total = documents.length;
  const before = await writesOf(sync, documents);
  const known = new Set(before.map(({ key }) => key));
  let waiting = before.filter(({ write }) => isWaiting(write)).length;
  const failed: Clash[] = [];
  let submitted = 0;
  const roomInOutbox = async (): Promise<void> => {
    await unlessAborted(sync.whenSettled(), signal);
    waiting = 0;
  };
  for (const { document, key, ref, write, files } of documents) {
    if (known.has(key)) continue;
    onProgress?.({ phase: 'writing', done: known.size + submitted + failed.length, total });
    signal?.throwIfAborted();
    const submit = () =>
      sync.client.submit(write, { label: label(document), data: adoptedAs(key, document) });
    if (waiting >= WAITING_MAX) await roomInOutbox();
    for (const file of files) await copyFile(file, local, sync);
    try {
      await submit().catch(async (error: unknown) => {
        if (!(error instanceof OutboxFull)) throw error;
        await roomInOutbox();
        await submit();
      });
      submitted += 1;
      waiting += 1;
    } catch (error) {
      if (!isOfDocument(error)) throw error;
      failed.push({ ref, description: error.description });
    }
  }
  onProgress?.({ phase: 'writing', done: total, total });
  const settled = refusedOf(sync, documents);
  // A rejection of a promise that the app does not use must not be reported as unhandled, for instance when the database is closed.
  settled.catch(() => undefined);
  return { submitted, known: known.size, failed, settled };
}

/** Whether an error concerns only one document: the copy fails as the hub would, and other documents may succeed. */
const isOfDocument = (error: unknown): error is QueryError =>
  error instanceof BadRequest || error instanceof PermissionDenied || error instanceof NotFound;

const labelOf = ({ ref }: LocalDocument): string => `${ref.collection?.id ?? ''} ${ref.id}`;

interface AdoptingWrite {
  readonly key: string;
  readonly write: Write;
}

/** Marks a write as that of a document. The same id with another `ts` is another version, or a document of another database. */
const adoptedAs = (key: string, { ts }: LocalDocument) => ({ adopted: key, ts });

/** The writes of these documents that this call or an earlier one has submitted, as far as the copy still lists them. */
async function writesOf(
  sync: Sync,
  documents: readonly DocumentToAdopt[],
): Promise<readonly AdoptingWrite[]> {
  const byKey = new Map(documents.map(({ key, document }) => [key, document]));
  const writes = await sync.writes.list();
  return writes.flatMap((write) => {
    // A write of an earlier version of this package has no `ts`; it counts whatever its version is.
    const { adopted: key = '', ts } = Object(write.data) as Partial<ReturnType<typeof adoptedAs>>;
    const document = byKey.get(key);
    return document && document.ts === (ts ?? document.ts) ? [{ key, write }] : [];
  });
}

const isWaiting = ({ state }: Write): boolean => state === 'local' || state === 'parked';

async function refusedOf(
  sync: Sync,
  documents: readonly DocumentToAdopt[],
): Promise<{ readonly refused: readonly JudgedWrite[] }> {
  const waiting = (await writesOf(sync, documents)).filter(({ write }) => isWaiting(write));
  // A write that is resolved while this waits rejects its promise, and needs no more attention.
  await Promise.allSettled(waiting.map(({ write }) => sync.writes.settled(write.id)));
  const after = await writesOf(sync, documents);
  return {
    refused: after.flatMap(({ write }) => (write.state === 'refused' ? [write] : [])),
  };
}

/** @throws the reason of the signal */
function unlessAborted<T>(waited: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return waited;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    void waited.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/**
 * Copies a file before its document is written, because it is sent once the hub has confirmed the document. A file that is not on this
 * device is skipped.
 */
async function copyFile(file: string, local: Database, sync: Sync): Promise<void> {
  try {
    await sync.files.put(await local.files.get(file));
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}
