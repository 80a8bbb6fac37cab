/**
 * `burrowdb/adopt`: copies a local database to a hub. Each document is one write of a copy, with a verdict like any other write, so nothing
 * is lost when it is interrupted, and nothing is created twice.
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

/** A document that would be refused. */
export interface Clash {
  readonly ref: Ref;
  /** Why, in a sentence. */
  readonly description: string;
}

export interface AdoptionPlan {
  readonly documents: number;
  readonly clashes: readonly Clash[];
  /** Who was asked: without a connection only the copy, which may lack what clashes. */
  readonly checkedBy: 'hub' | 'device';
}

export interface Adoption {
  /** Documents that were stored in the outbox by this call. */
  readonly submitted: number;
  /** Those that an earlier call had stored there. */
  readonly known: number;
  /** Those that fail on the device already: they were not stored, and an adoption that is called again tries them again. */
  readonly failed: readonly Clash[];
  /** Resolves when the hub has judged them all, also those of earlier calls; with the refused ones, which stay in `sync.writes`. */
  readonly settled: Promise<{ readonly refused: readonly JudgedWrite[] }>;
}

/** Documents that are tried in one query, unless that is too much for one. */
const TRIED_TOGETHER = 100;
const TOO_MUCH: readonly string[] = ['limit_exceeded', 'request too large', 'time out'];
/** Writes that wait for the hub at most: an outbox holds 10,000, and the app writes too. */
const WAITING_MAX = 5000;
const DRY_RUN = 'burrow: this was a dry run';

/**
 * What `adopt()` would do, without doing it: says of each document that would be refused why.
 * @throws AdoptRefused when the hub lacks a collection, or the copy does not keep a set of it
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
  /** Undefined: it would be made. */
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
  /** Halves them until those that fail are found. @param made those before them, which they may clash with */
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
 * Copies a local database to the hub of a copy: its documents are submitted to the copy, each as a write of its own. It works with or
 * without a network. After an interruption, call it again with the same arguments and it continues; a document that the hub has with the
 * same data is left as it is, with other data it is refused. When `failed` and `refused` are empty, the local database is no longer needed:
 * `local.destroy()`.
 * @throws AdoptRefused when the hub lacks a collection, the copy does not keep a set of it, or an option is wrong: nothing was written
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
  // Nobody need look at it, also when the database is closed.
  settled.catch(() => undefined);
  return { submitted, known: known.size, failed, settled };
}

/** The copy knows already what the hub would say; others may do better. */
const isOfDocument = (error: unknown): error is QueryError =>
  error instanceof BadRequest || error instanceof PermissionDenied || error instanceof NotFound;

const labelOf = ({ ref }: LocalDocument): string => `${ref.collection?.id ?? ''} ${ref.id}`;

interface AdoptingWrite {
  readonly key: string;
  readonly write: Write;
}

/** What a write remembers: the same id of another database, or of a later version, is another document. */
const adoptedAs = (key: string, { ts }: LocalDocument) => ({ adopted: key, ts });

/** Writes that this call or an earlier one has submitted, of those that the copy still lists. */
async function writesOf(
  sync: Sync,
  documents: readonly DocumentToAdopt[],
): Promise<readonly AdoptingWrite[]> {
  const byKey = new Map(documents.map(({ key, document }) => [key, document]));
  const writes = await sync.writes.list();
  return writes.flatMap((write) => {
    // Of an earlier version of this package, without `ts`: whatever it was, it counts.
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
  // One that is resolved meanwhile is nobody's concern any more.
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

/** Before the document: it is sent when the hub has confirmed that. Without bytes here there is nothing to send. */
async function copyFile(file: string, local: Database, sync: Sync): Promise<void> {
  try {
    await sync.files.put(await local.files.get(file));
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}
