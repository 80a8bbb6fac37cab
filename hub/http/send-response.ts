/** Writes responses to the wire. A stream goes as fast as the client reads; one that does not read is disconnected. */
import { Refusal } from '../../src/errors.ts';
import type { HttpResponse } from '../../src/http/message.ts';
import { nextTurn, TURN_BYTES } from '../event-loop/next-turn.ts';
import type { AnyResponse } from '../connections/any-request.ts';
import { partsOf } from './parts.ts';
import { isClosed } from './request-context.ts';

export type TextResponse = HttpResponse & { readonly body: string };
export type StreamedResponse = HttpResponse & {
  readonly body: Exclude<HttpResponse['body'], string>;
};

function writeHead(
  to: AnyResponse,
  { status, headers }: HttpResponse,
  more: Readonly<Record<string, string>> = {},
): void {
  const isHttp2 = 'stream' in to;
  const all: string[] = [];
  // HTTP/2 has no connection headers.
  for (const [name, value] of Object.entries({ ...headers, ...more }))
    if (!isHttp2 || name !== 'connection') all.push(name, value);
  (to as { writeHead(status: number, headers: string[]): void }).writeHead(status, all);
}

export function sendText(
  to: AnyResponse,
  response: TextResponse,
  more: Readonly<Record<string, string>> = {},
): void {
  const length = response.headers['content-length'] ?? String(Buffer.byteLength(response.body));
  writeHead(to, response, { 'content-length': length, ...more });
  to.end(response.body);
}

/** Calls `onUnread` if something of a response that was sent is still in this process, because its client has not taken it. */
export function ifUnread(to: AnyResponse, onUnread: () => void): void {
  if (isClosed(to)) return;
  // Over HTTP/2 clients say how much they take.
  if ('stream' in to || (to.socket !== null && to.writableLength > 0)) onUnread();
  // It waits for the responses before it.
  else if (to.socket === null) to.once('socket', () => setImmediate(() => ifUnread(to, onUnread)));
}

/** After a part that is larger, others have a turn. */
const SMALL_PART = 16 * 1024;

/** A client that reads nothing for `slowReaderMs` is disconnected. Resolves when all was written, or nobody reads it any more. */
export async function sendInParts(
  to: AnyResponse,
  response: HttpResponse,
  body: string | Uint8Array,
  { bytes, slowReaderMs }: { readonly bytes: number; readonly slowReaderMs: number },
): Promise<void> {
  const length = response.headers['content-length'] ?? String(bytes);
  writeHead(to, response, { 'content-length': length });
  const never = new AbortController().signal;
  for (const part of partsOf(body, TURN_BYTES)) {
    if (isClosed(to)) break;
    if (!write(to, part)) await drained(to, never, slowReaderMs);
    if (part.length > SMALL_PART) await nextTurn();
  }
  to.end();
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  readonly slowReaderMs: number;
  /** Counts a long part as not read yet, until the returned function is called. Undefined: it would be too much beside others. */
  readonly hold: (bytes: number) => (() => void) | undefined;
}

/** Resolves when the stream has ended, whichever side ended it. @throws Refusal when too much is not read yet */
export async function sendStream(
  to: AnyResponse,
  response: StreamedResponse,
  { signal, slowReaderMs, hold }: StreamOptions,
): Promise<void> {
  // nginx holds small parts back, of what it takes over HTTP/1.0 without end. Of a file, which has a length, it may.
  const isFile = response.headers['content-length'] !== undefined;
  writeHead(to, response, isFile ? {} : { 'x-accel-buffering': 'no' });
  // Over HTTP/2 the headers are sent already.
  if ('flushHeaders' in to) to.flushHeaders();
  const parts = (response.body as AsyncIterable<string | Uint8Array>)[Symbol.asyncIterator]();
  const stop = (): void => void parts.return?.();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      const part = await parts.next();
      if (part.done === true || signal.aborted) break;
      const { length } = part.value;
      const release = length > TURN_BYTES ? hold(length) : NOTHING;
      if (!release) throw new Refusal('storage_blocked', UNREAD);
      try {
        if (!write(to, part.value)) await drained(to, signal, slowReaderMs);
      } finally {
        release();
      }
      if (length > SMALL_PART) await nextTurn();
    }
    to.end();
  } catch (reason) {
    // What was sent cannot be taken back: the client must see that the stream broke.
    breakOff(to);
    throw reason;
  } finally {
    signal.removeEventListener('abort', stop);
    await parts.return?.();
  }
}

const NOTHING = (): void => undefined;
const UNREAD = 'Too many answers are still unread, so this stream is cut off.';

/** Over HTTP/2 a response that is destroyed without a reason looks to its client as if it had ended. */
export function breakOff(to: AnyResponse): void {
  if ('stream' in to) to.destroy(new Error('The response breaks off.'));
  else to.destroy();
}

const write = (to: AnyResponse, part: string | Uint8Array): boolean =>
  (to as { write(part: string | Uint8Array): boolean }).write(part);

function drained(to: AnyResponse, signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(late);
      to.off('drain', done);
      to.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const late = setTimeout(() => {
      breakOff(to);
      done();
    }, ms);
    to.on('drain', done);
    to.on('close', done);
    signal.addEventListener('abort', done);
  });
}
