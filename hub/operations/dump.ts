/** Backup: all rows of one snapshot as gzipped lines, between a header and a trailer with their number and digest. */
import { createReadStream, createWriteStream } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { messageOf } from '../../hosts/node-errors.ts';
import { membersOf, tryJson } from '../../src/codec/plain-json.ts';
import { textLines } from '../../src/data/text-lines.ts';
import type { Store } from '../../src/store/port.ts';
import { HUB_ROWS, newEpoch, put, requireWhole } from '../store/hub-rows.ts';
import { StoreFiller } from './fill-store.ts';
import { OperationFault } from './operation-fault.ts';
import {
  lineOf,
  readAllRows,
  rowIn,
  type StoredRow,
  Tally,
  tallyOf,
  type Total,
} from './stored-rows.ts';
import { PRIVATE, wholeFile } from './whole-file.ts';

const DUMP_VERSION = 1;

type Progress = (rows: number) => void;

export interface DumpOptions {
  readonly now: () => Date;
  readonly onProgress: Progress;
  /** Transaction time in microseconds of a commit that the dump must contain. A standby may not have it yet. */
  readonly lastSeen?: number;
}

/**
 * @throws Refusal when a load or move into the store is incomplete @throws OperationFault when the store has not reached
 * `lastSeen`, or the connection was lost
 */
export async function dumpStore(store: Store, file: string, options: DumpOptions): Promise<number> {
  await requireWhole(store);
  return wholeFile(file, (path) => writeDump(store, path, options));
}

async function writeDump(
  store: Store,
  path: string,
  { now, onProgress, lastSeen }: DumpOptions,
): Promise<number> {
  const gzip = createGzip();
  const ended = pipeline(gzip, createWriteStream(path, PRIVATE));
  // If the file cannot be written, the gzip stream is destroyed so that the pending write rejects. `ended` itself is awaited at
  // the end.
  ended.catch((reason: unknown) => gzip.destroy(reason as Error));
  try {
    const header = { format: 'burrow-dump', version: DUMP_VERSION, made: now().toISOString() };
    await writeLine(gzip, JSON.stringify(header));
    const tally = new Tally();
    const take = async (rows: readonly StoredRow[]): Promise<void> => {
      const lines = rows.map(lineOf);
      for (const line of lines) tally.add(line);
      if (lines.length > 0) await writeLine(gzip, lines.join('\n'));
      onProgress(tally.rows);
    };
    await readAllRows(store, take, lastSeen);
    const total = tally.end();
    await writeLine(gzip, JSON.stringify({ end: total }));
    gzip.end();
    await ended;
    return total.rows;
  } catch (reason) {
    gzip.destroy();
    await ended.catch(() => undefined);
    throw reason;
  }
}

function writeLine(stream: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // The stream has failed since the last line, and emits no second `error` event.
    if (stream.errored) return reject(stream.errored);
    const failed = (reason: Error): void => reject(reason);
    stream.once('error', failed);
    const done = (): void => {
      stream.off('error', failed);
      resolve();
    };
    if (stream.write(`${line}\n`)) done();
    else stream.once('drain', done);
  });
}

/** Checks the first line of the file. @throws OperationFault */
export async function requireDump(file: string): Promise<void> {
  for await (const line of linesIn(createReadStream(file))) return requireHeader(line);
  throw new OperationFault(`${file} is empty.`);
}

/**
 * Loads a dump into an empty store, under a new epoch: devices that have synced with the dumped hub must not take these data for
 * a later state.
 * @throws OperationFault when the file is not a complete dump, or the store is not empty
 */
export async function loadStore(store: Store, file: string, onProgress: Progress): Promise<number> {
  const filler = new StoreFiller(store);
  const tally = new Tally();
  let end: Total | undefined;
  let number = 0;
  for await (const line of linesIn(createReadStream(file))) {
    number += 1;
    const read = <T>(readLine: (line: string) => T): T =>
      readOf(file, number, () => readLine(line));
    if (number === 1) {
      requireHeader(line);
      await filler.begin();
    } else if (line.startsWith('[')) {
      tally.add(line);
      await filler.add(read(rowIn));
      onProgress(tally.rows);
    } else end = read(totalIn);
  }
  const found = tally.end();
  if (!end || end.rows !== found.rows)
    throw new OperationFault(
      `${file} is incomplete: it holds ${found.rows} rows, not all that were dumped.`,
    );
  if (end.sha256 !== found.sha256)
    throw new OperationFault(`${file} is damaged: its rows are not those that were dumped.`);
  await filler.flush();
  const stored = await tallyOf(store);
  if (stored.sha256 !== end.sha256)
    throw new OperationFault('The stored rows differ from the dump: the store has lost some.');
  await filler.end(newEpoch(), [put(HUB_ROWS.restored, new Date().toISOString())]);
  return found.rows;
}

/** Reports an unreadable line as `OperationFault`, because it is not a bug. @throws OperationFault */
function readOf<T>(file: string, line: number, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const why = `line ${line} cannot be read: ${messageOf(cause)}`;
    throw new OperationFault(`${file} is damaged: ${why}`, { cause });
  }
}

/** @throws Error if the line is not the end of a dump */
function totalIn(line: string): Total {
  const { end } = (JSON.parse(line) ?? {}) as { readonly end?: Partial<Total> };
  if (typeof end?.rows === 'number' && typeof end.sha256 === 'string')
    return { rows: end.rows, sha256: end.sha256 };
  throw new Error('It is neither a row nor the end of a dump.');
}

function requireHeader(line: string): void {
  const { format, version } = membersOf(tryJson(line));
  if (format !== 'burrow-dump') throw new OperationFault('The file is not a dump of a hub.');
  if (version !== DUMP_VERSION)
    throw new OperationFault(
      `The dump has version ${String(version)}; this build reads version ${DUMP_VERSION}.`,
    );
}

async function* linesIn(file: Readable): AsyncGenerator<string> {
  const gunzip = createGunzip().setEncoding('utf8');
  const failures: Error[] = [];
  const note = (reason: Error): void => void failures.push(reason);
  file.on('error', (reason) => gunzip.destroy(reason));
  gunzip.on('error', note);
  file.pipe(gunzip);
  try {
    for await (const line of textLines(gunzip as AsyncIterable<string>))
      if (line !== '') yield line;
  } catch (reason) {
    // Either reading has failed, or the caller's work on a line: only the latter is thrown here.
    if (!(reason instanceof Error) || !failures.includes(reason)) throw reason;
  }
  const [failure] = failures;
  if (failure) throw new OperationFault(`The file cannot be read to its end: ${failure.message}`);
}
