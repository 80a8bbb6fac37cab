/** `burrow export`, and `burrow import` of a single file: the formats of `burrowdb/data`, from and to a database of a running hub. */
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import type { DataDatabase } from '../../src/data/ask.ts';
import { DataError } from '../../src/data/data-error.ts';
import { exportDatabase, type DataProgress } from '../../src/data/export.ts';
import { isExport } from '../../src/data/format.ts';
import { importDatabase, type ImportOptions, type ImportResult } from '../../src/data/import.ts';
import { linesOf } from '../../src/data/lines.ts';
import type { OnClash } from '../../src/data/write-batches.ts';
import { OperationFault } from './operation-fault.ts';
import { fetchHub, UNKNOWN_SECRET } from './query-hub.ts';
import { PRIVATE, wholeFile } from './whole-file.ts';

export interface DataRequest {
  readonly url: string;
  readonly secret: string;
  readonly file: string;
  readonly onProgress: (progress: DataProgress) => void;
}

const hubAt = (url: string): DataDatabase => ({
  async fetch(_, init) {
    const { response, text } = await fetchHub(url, init);
    if (response.status === 401) throw new OperationFault(UNKNOWN_SECRET);
    return Object.assign(response, { text: () => Promise.resolve(text) });
  },
});

export async function exportToFile(
  request: DataRequest & { readonly history: boolean },
): Promise<void> {
  const { url, file, ...options } = request;
  await withFaults(() =>
    wholeFile(file, (path) => {
      const stream = exportDatabase(hubAt(url), options) as NodeStream<Uint8Array>;
      return pipeline(Readable.fromWeb(stream), createWriteStream(path, PRIVATE));
    }),
  );
}

export interface FileImport extends DataRequest {
  readonly onClash: OnClash;
  /** Where documents of JSON lines and tables are created. */
  readonly collection: string | undefined;
  readonly id: string | undefined;
  readonly delimiter: string | undefined;
}

/** Recognizes an export by its first line, other files by their names. */
export function importFile(request: FileImport): Promise<ImportResult> {
  const { url, file } = request;
  const open = () => streamOf(file);
  return withFaults(async () => {
    const options = optionsFor(request, await beginsAsExport(open));
    return importDatabase(hubAt(url), open, options);
  });
}

export const streamOf = (file: string): ReadableStream<Uint8Array> =>
  Readable.toWeb(createReadStream(file)) as unknown as ReadableStream<Uint8Array>;

async function beginsAsExport(open: () => ReadableStream<Uint8Array>): Promise<boolean> {
  for await (const { text } of linesOf(open, undefined)) return isExport(text);
  return false;
}

function optionsFor(request: FileImport, isOfExport: boolean): ImportOptions {
  const { file, secret, onClash, onProgress, collection, id, delimiter } = request;
  const common = { secret, onClash, onProgress };
  const [, ending] = /\.(jsonl|ndjson|csv)(?:\.gz)?$/.exec(file.toLowerCase()) ?? [];
  if (isOfExport || ending === undefined) {
    if ((collection ?? id ?? delimiter) === undefined) return common;
    const what = isOfExport
      ? 'an export, which names its collections'
      : 'no .jsonl, .ndjson or .csv file';
    throw new OperationFault(`${file} is ${what}: leave out --collection, --id and --delimiter.`);
  }
  if (collection === undefined)
    throw new OperationFault(`Name the collection for ${file}: --collection <name>.`);
  const format = ending === 'csv' ? 'csv' : 'jsonl';
  if (format === 'jsonl' && delimiter !== undefined)
    throw new OperationFault('--delimiter needs a .csv file.');
  const rows = {
    collection,
    ...(id !== undefined && { id }),
    ...(delimiter !== undefined && { delimiter }),
  };
  return { ...common, ...rows, format };
}

/** Reports problems of a file as `OperationFault`, because they are not bugs. */
async function withFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (reason) {
    if (reason instanceof DataError) throw new OperationFault(`${reason.code}: ${reason.message}`);
    throw reason;
  }
}
