/** Reads the lines of a source: decompresses and decodes it, and checks the length of lines. */
import { DATA_LIMITS } from '../limits.ts';
import { DataError } from './data-error.ts';
import { textLines } from './text-lines.ts';

/** Sources that can be read without conversion. */
export type ReadSource =
  | Blob
  | (() => ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>)
  | ReadableStream<Uint8Array>;

/**
 * A file, its bytes or its text, or a function that opens a stream: such a source is read twice, and checked before anything is written. A
 * plain stream can be read only once, so each part is checked just before it is written.
 */
export type DataSource = ReadSource | Uint8Array<ArrayBuffer> | string;

export const sourceOf = (source: DataSource): ReadSource =>
  typeof source === 'string' || source instanceof Uint8Array ? new Blob([source]) : source;

export const canReadTwice = (source: ReadSource): boolean =>
  source instanceof Blob || typeof source === 'function';

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/**
 * Lines without their ends, LF or CRLF. A gzipped source is decompressed.
 * @throws DataError `line_too_long`, `incomplete`, `damaged`
 */
export async function* linesOf(
  source: ReadSource,
  signal: AbortSignal | undefined,
): AsyncGenerator<Line> {
  let number = 1;
  const check = (rest: string): unknown => bounded({ number, text: rest });
  for await (const text of textLines(textOf(source, signal), check)) {
    yield bounded({ number, text: withoutReturn(text) });
    number += 1;
  }
}

const withoutReturn = (text: string): string => (text.endsWith('\r') ? text.slice(0, -1) : text);

function bounded(line: Line): Line {
  if (line.text.length <= DATA_LIMITS.lineChars) return line;
  const sentence = `It is longer than ${DATA_LIMITS.lineChars} characters.`;
  throw new DataError('line_too_long', sentence, { line: line.number });
}

/** Pieces of the text, without the byte order mark. @throws DataError */
export async function* textOf(
  source: ReadSource,
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Uint8Array): string => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
    } catch (cause) {
      throw new DataError('damaged', 'The source is not UTF-8 text.', { cause });
    }
  };
  for await (const bytes of bytesOf(source, signal)) yield decode(bytes);
  yield decode();
}

async function* bytesOf(
  source: ReadSource,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const reader = (await streamOf(source)).getReader();
  const read = () => bytesFrom(reader, signal);
  // Ends a read that waits for a source which has stalled.
  const stop = () => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener('abort', stop);
  try {
    const first = await beginningOf(read);
    const parts = partsOf(first, read);
    if (isGzip(first)) yield* inflated(parts);
    else yield* parts;
  } finally {
    signal?.removeEventListener('abort', stop);
    // Also reached when the caller stops reading early.
    await reader.cancel().catch(() => undefined);
  }
}

/** @throws DataError `invalid_option` */
async function streamOf(source: ReadSource): Promise<ReadableStream<Uint8Array>> {
  if (source instanceof Blob) return source.stream();
  const opened: unknown = typeof source === 'function' ? await source() : source;
  if ((opened as Partial<ReadableStream> | null | undefined)?.getReader)
    return opened as ReadableStream<Uint8Array>;
  const sentence = `The source must be a Blob, a Uint8Array, text, a stream or a function that opens one, not ${String(opened)}.`;
  throw new DataError('invalid_option', sentence);
}

/** Reads the next bytes; undefined at the end. */
type Read = () => Promise<Uint8Array | undefined>;

/** @throws the reason of the signal @throws DataError `invalid_option` */
async function bytesFrom(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  signal?.throwIfAborted();
  const { value } = await reader.read();
  signal?.throwIfAborted();
  if (value && !ArrayBuffer.isView(value))
    throw new DataError('invalid_option', 'The source must be a stream of bytes, not of text.');
  return value;
}

/** Reads enough bytes to detect gzip. */
async function beginningOf(read: Read): Promise<Uint8Array> {
  let first = new Uint8Array();
  while (first.length < 2) {
    const value = await read();
    if (!value) break;
    const both = new Uint8Array(first.length + value.length);
    both.set(first);
    both.set(value, first.length);
    first = both;
  }
  return first;
}

const isGzip = ([first, second]: Uint8Array): boolean => first === 0x1f && second === 0x8b;

/** Cuts the bytes into small parts, because all that is decompressed from a part is in memory at once. */
async function* partsOf(first: Uint8Array, read: Read): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { inflateBytes } = DATA_LIMITS;
  for (let chunk: Uint8Array | undefined = first; chunk; chunk = await read()) {
    for (let at = 0; at < chunk.length; at += inflateBytes)
      yield new Uint8Array(chunk.subarray(at, at + inflateBytes));
  }
}

async function* inflated(
  parts: AsyncGenerator<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array> {
  let failure: { readonly reason: unknown } | undefined;
  const compressed = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const { done, value } = await parts.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (reason) {
          // The error comes from the source, not from decompression, so it is rethrown unchanged.
          failure = { reason };
          controller.error(reason);
        }
      },
    },
    { highWaterMark: 0 },
  );
  const reader = compressed.pipeThrough(new DecompressionStream('gzip')).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        if (failure) throw failure.reason;
        const sentence = 'The compressed source is cut short or damaged.';
        throw new DataError('damaged', sentence, { cause });
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
