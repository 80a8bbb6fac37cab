/** Writes the file of an export: lines of the log, gzipped as a stream and stored in chunks. Only a part is in memory at a time. */
import { joinBytes } from '../codec/join-bytes.ts';
import { utf8Bytes } from '../codec/utf8.ts';
import type { EngineOptions } from '../engine/host.ts';
import type { Store } from '../store/port.ts';
import type { Micros } from '../values/value.ts';
import { addChunk, type ExportRow } from './export-rows.ts';
import { readLog } from './query-log.ts';

export interface FileOptions extends Pick<EngineOptions, 'clock' | 'pause'> {
  readonly store: Store;
  /** The region group in which the log was written. */
  readonly regionGroup: string;
}

export type FileOutcome =
  | { readonly state: 'written'; readonly chunks: number; readonly bytes: number }
  | { readonly state: 'empty' }
  | { readonly state: 'late' }
  /** Another attempt owns the export request now. */
  | { readonly state: 'taken' }
  /** The database is being closed. The work begins again when it is opened next. */
  | { readonly state: 'stopped' };

const PUSH_BYTES = 64 * 1024;
/** Number of writes to the gzip stream between two pauses. */
const PUSHES_PER_TURN = 4;
const CHUNK_BYTES = 1024 * 1024;

export async function writeFile(
  owner: ExportRow,
  deadline: Micros,
  isStopped: () => boolean,
  options: FileOptions,
): Promise<FileOutcome> {
  const { store, clock, pause } = options;
  const { start, end, path } = owner.wish;
  const chunks = new Chunks(store, owner);
  const gzip = gzipInto(chunks);
  let hasLines = false;
  for await (const records of readLog(store, { start, end, database: path })) {
    if (isStopped()) return { state: 'stopped' };
    if (clock() >= deadline) return { state: 'late' };
    if (records.length > 0) {
      hasLines = true;
      const lines = records.map((record) => `${record.exportedLine(options.regionGroup)}\n`);
      const bytes = utf8Bytes(lines.join(''));
      let pushes = 0;
      for (let at = 0; at < bytes.length; at += PUSH_BYTES) {
        await gzip.write(bytes.subarray(at, at + PUSH_BYTES));
        pushes += 1;
        if (pushes % PUSHES_PER_TURN === 0) await pause();
      }
      if (!(await chunks.writeFull())) return { state: 'taken' };
    }
    await pause();
  }
  if (!hasLines) return { state: 'empty' };
  await gzip.finish();
  if (!(await chunks.writeFull()) || !(await chunks.writeRest())) return { state: 'taken' };
  return { state: 'written', chunks: chunks.written, bytes: chunks.bytes };
}

function gzipInto(chunks: Chunks): {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  finish(): Promise<unknown>;
} {
  const gzip = new CompressionStream('gzip');
  const writer = gzip.writable.getWriter();
  const reader = gzip.readable.getReader();
  const take = async (): Promise<void> => {
    for (;;) {
      const { value } = await reader.read();
      if (!value) return;
      chunks.take(value);
    }
  };
  const taking = take();
  return {
    write: (bytes) => writer.write(bytes),
    finish: () => Promise.all([writer.close(), taking]),
  };
}

class Chunks {
  private readonly store: Store;
  private readonly owner: ExportRow;
  private parts: Uint8Array[] = [];
  private held = 0;
  written = 0;
  bytes = 0;

  constructor(store: Store, owner: ExportRow) {
    this.store = store;
    this.owner = owner;
  }

  take(part: Uint8Array): void {
    this.parts.push(part);
    this.held += part.length;
  }

  async writeFull(): Promise<boolean> {
    while (this.held >= CHUNK_BYTES) {
      const all = joinBytes(this.parts);
      const rest = all.slice(CHUNK_BYTES);
      this.parts = [rest];
      this.held = rest.length;
      if (!(await this.write(all.slice(0, CHUNK_BYTES)))) return false;
    }
    return true;
  }

  writeRest(): Promise<boolean> {
    return this.write(joinBytes(this.parts));
  }

  private async write(bytes: Uint8Array): Promise<boolean> {
    const index = this.written;
    this.written += 1;
    this.bytes += bytes.length;
    return addChunk(this.store, this.owner, index, bytes);
  }
}
