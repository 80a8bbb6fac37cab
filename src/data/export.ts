/** Exports all data of a database as of one time, as lines of gzipped JSON. */
import { stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { DATA_LIMITS } from '../limits.ts';
import { askOf, type Ask, type AskOptions, type DataDatabase } from './ask.ts';
import { DataError, isRefusal, requireKnown } from './data-error.ts';
import { LinesDigest } from './digest.ts';
import { headerLine, trailerLine } from './format.ts';
import { versionLines, type CollectionRead } from './export-history.ts';
import { readSchema, schemaLine } from './schema.ts';
import { documentsOfPage, documentsText, isObject, itemsOf, pageText, textIn } from './wire.ts';

export interface DataProgress {
  /** `checking`: the source is being read, before anything of it is written. */
  readonly phase: 'exporting' | 'checking' | 'importing';
  /** Number of documents so far. */
  readonly done: number;
  /** Undefined while it is not known: an export knows it when all documents are read, an import when the source is checked. */
  readonly total: number | undefined;
}

export interface ExportOptions extends AskOptions {
  /** Names of the collections whose documents are exported; by default all collections. The schema is always exported as a whole. */
  readonly collections?: readonly string[];
  /** Also exports earlier versions of documents, and those of deleted documents. */
  readonly history?: boolean;
  /** Whether the export is compressed; true by default. */
  readonly gzip?: boolean;
  readonly onProgress?: (progress: DataProgress) => void;
}

const OPTIONS = [
  'secret',
  'signal',
  'collections',
  'history',
  'gzip',
  'onProgress',
] satisfies (keyof ExportOptions)[];

/**
 * Returns a stream of the schema and all documents, as of the time when the stream is first read. It contains no passwords, secrets or
 * keys. Data is fetched only as the stream is read.
 * @throws DataError `invalid_option`
 * @example
 * const file = await new Response(exportDatabase(db)).blob();
 * console.log(file.size > 0); // true
 */
export function exportDatabase(
  database: DataDatabase,
  options: ExportOptions = {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  requireKnown(options, OPTIONS);
  if (options.collections && !Array.isArray(options.collections))
    throw new DataError('invalid_option', '`collections` must be an array of names.');
  const pieces = piecesOf(exportLines(askOf(database, options, true), options));
  const bytes = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await pieces.return(undefined)),
    },
    { highWaterMark: 0 },
  );
  return options.gzip === false ? bytes : bytes.pipeThrough(new CompressionStream('gzip'));
}

const PIECE_CHARS = 64 * 1024;

/** Joins lines to pieces that are large enough to be compressed well. */
async function* piecesOf(
  lines: AsyncGenerator<string>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const encoder = new TextEncoder();
  let piece = '';
  for await (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < PIECE_CHARS) continue;
    yield encoder.encode(piece);
    piece = '';
  }
  if (piece !== '') yield encoder.encode(piece);
}

async function* exportLines(ask: Ask, options: ExportOptions): AsyncGenerator<string> {
  const digest = new LinesDigest();
  for await (const line of contentLines(ask, options)) {
    await digest.add(line);
    yield line;
  }
  const { lines } = digest;
  yield trailerLine({ lines, sha256: await digest.end() });
}

async function* contentLines(ask: Ask, options: ExportOptions): AsyncGenerator<string> {
  const now = await ask('{"now":null}');
  const at = stringifyJson(now);
  const schema = await readSchema(ask, at, 'all');
  const collections = schema.flatMap(({ kind, name }) => (kind === 'collections' ? [name] : []));
  const wanted = options.collections ?? collections;
  requireAll(collections, wanted);
  const exported = collections.filter((name) => wanted.includes(name));
  const hasHistory = options.history === true;
  yield headerLine({
    at: timeIn(now),
    hasHistory,
    collections: exported,
    omitted: await omittedOf(ask),
  });
  for (const object of schema) yield schemaLine(object);
  let done = 0;
  const report = (total?: number): void =>
    options.onProgress?.({ phase: 'exporting', done, total });
  const onPage = (documents: number): void => {
    done += documents;
    report();
  };
  onPage(0);
  for (const collection of exported)
    yield* collectionLines({ ask, at, collection }, hasHistory, onPage);
  report(done);
}

/** @throws DataError `history_gone` */
async function* collectionLines(
  read: CollectionRead,
  hasHistory: boolean,
  onPage: (documents: number) => void,
): AsyncGenerator<string> {
  try {
    yield* documentLines(read, onPage);
    if (hasHistory) yield* versionLines(read);
  } catch (cause) {
    // All these queries have the same form, so one is refused as a bad request only if its time is no longer in the history.
    if (!isRefusal(cause, 'bad request')) throw cause;
    const sentence = `The history of '${read.collection}' no longer reaches back to the start of the export. Export again; if it takes longer than that collection keeps its history, raise its \`history_days\`.`;
    throw new DataError('history_gone', sentence, { cause });
  }
}

const timeIn = (now: Json): string => (isObject(now) && textIn(now.get('@ts'))) || '';

function requireAll(found: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.find((name) => !found.includes(name));
  if (missing === undefined) return;
  throw new DataError('invalid_option', `\`collections\`: there is no collection '${missing}'.`);
}

const OMITTED = ['databases', 'keys', 'tokens', 'credentials'];

async function omittedOf(ask: Ask): Promise<string[]> {
  const found: string[] = [];
  for (const kind of OMITTED) {
    try {
      const page = await ask(pageText(`{"${kind}":null}`, 1));
      if (itemsOf(isObject(page) ? page.get('data') : undefined).length > 0) found.push(kind);
    } catch (reason) {
      // A key with the role `server` exports documents, but may not read these.
      if (!isRefusal(reason, 'permission denied')) throw reason;
    }
  }
  return found;
}

async function* documentLines(
  { ask, at, collection }: CollectionRead,
  onPage: (documents: number) => void,
): AsyncGenerator<string> {
  const set = documentsText(collection);
  let size: number = DATA_LIMITS.pageDocuments;
  let after: Json | undefined;
  for (;;) {
    const page = await pageOr(ask(documentsOfPage(at, pageText(set, size, after))), size);
    if (page === undefined) {
      size = Math.ceil(size / 8);
      continue;
    }
    const documents = itemsOf(page.get('data'));
    let chars = 0;
    for (const each of documents) {
      const line = stringifyJson(each);
      chars += line.length;
      yield line;
    }
    onPage(documents.length);
    after = page.get('after');
    if (after === undefined) return;
    size = nextSize(documents.length, chars);
  }
}

/** Undefined if the page is too large. */
async function pageOr(asked: Promise<Json>, size: number): Promise<JsonObject | undefined> {
  try {
    const page = await asked;
    return isObject(page) ? page : new Map();
  } catch (reason) {
    if (size === 1 || !isRefusal(reason, 'limit_exceeded')) throw reason;
    return undefined;
  }
}

const nextSize = (documents: number, chars: number): number =>
  Math.max(
    1,
    Math.min(
      DATA_LIMITS.pageDocumentsMax,
      documents === 0 ? DATA_LIMITS.pageDocuments : documents * 2,
      Math.floor((DATA_LIMITS.pageChars * documents) / Math.max(1, chars)),
    ),
  );
