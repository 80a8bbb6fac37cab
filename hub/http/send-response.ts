/** Writes responses to the network. A stream is sent as fast as the client reads; a client that does not read is disconnected. */
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

/** @param more headers that the response may have already: then its own are sent */
function writeHead(
  to: AnyResponse,
  { status, headers }: HttpResponse,
  more: Readonly<Record<string, string>> = {},
): void {
  const isHttp2 = 'stream' in to;
  const all: string[] = [];
  // HTTP/2 has no `connection` header.
  for (const [name, value] of Object.entries({ ...more, ...headers }))
    if (!isHttp2 || name !== 'connection') all.push(name, value);
  (to as { writeHead(status: number, headers: string[]): void }).writeHead(status, all);
}

export function sendText(to: AnyResponse, response: TextResponse): void {
  // Here the body for HEAD is empty, so the length of the body for GET is not known.
  const isHead = to.req.method === 'HEAD';
  const length = { 'content-length': String(Buffer.byteLength(response.body)) };
  writeHead(to, response, isHead ? {} : length);
  to.end(response.body);
}

/** Calls `onUnread` if part of a sent response is still in the memory of this process because the client has not read it. */
export function ifUnread(to: AnyResponse, onUnread: () => void): void {
  if (isClosed(to)) return;
  // Over HTTP/2 the client decides how much it accepts, so the response may always be unread.
  if ('stream' in to || (to.socket !== null && to.writableLength > 0)) onUnread();
  // The response waits for earlier responses on its connection, so it is checked when it gets the socket.
  else if (to.socket === null) to.once('socket', () => setImmediate(() => ifUnread(to, onUnread)));
}

/** After a larger part, other requests get a turn of the event loop. */
const SMALL_PART = 16 * 1024;

/**
 * Resolves when everything was written or the client has disconnected. A client that reads nothing for `slowReaderMs` is
 * disconnected.
 */
export async function sendInParts(
  to: AnyResponse,
  response: HttpResponse,
  body: string | Uint8Array,
  { bytes, slowReaderMs }: { readonly bytes: number; readonly slowReaderMs: number },
): Promise<void> {
  writeHead(to, response, { 'content-length': String(bytes) });
  for (const part of partsOf(body, TURN_BYTES)) {
    if (isClosed(to)) break;
    if (!write(to, part)) await drained(to, slowReaderMs);
    if (part.length > SMALL_PART) await nextTurn();
  }
  to.end();
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  readonly slowReaderMs: number;
  /**
   * Counts a long part as unread until the returned function is called.
   * @returns undefined if too many bytes are unread already
   */
  readonly hold: (bytes: number) => (() => void) | undefined;
}

/** Resolves when the stream has ended, whichever side ended it. @throws Refusal when too many bytes are unread */
export async function sendStream(
  to: AnyResponse,
  response: StreamedResponse,
  { signal, slowReaderMs, hold }: StreamOptions,
): Promise<void> {
  // nginx would buffer small parts of an event stream, and over HTTP/1.0 without limit. It may buffer a file, which has a length.
  const isFile = response.headers['content-length'] !== undefined;
  writeHead(to, response, isFile ? {} : { 'x-accel-buffering': 'no' });
  // Over HTTP/2 the headers have already been sent.
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
        if (!write(to, part.value)) await drained(to, slowReaderMs, signal);
      } finally {
        release();
      }
      if (length > SMALL_PART) await nextTurn();
    }
    to.end();
  } catch (reason) {
    // The part already sent cannot be undone, so the connection is broken off: the client must see that the stream is incomplete.
    breakOff(to);
    throw reason;
  } finally {
    signal.removeEventListener('abort', stop);
    await parts.return?.();
  }
}

const NOTHING = (): void => undefined;
const UNREAD = 'Too many answers are still unread, so this stream is cut off.';

/** Aborts a response. Over HTTP/2 an error is needed: without one, the response would look complete to the client. */
export function breakOff(to: AnyResponse): void {
  if ('stream' in to) to.destroy(new Error('The response breaks off.'));
  else to.destroy();
}

const write = (to: AnyResponse, part: string | Uint8Array): boolean =>
  (to as { write(part: string | Uint8Array): boolean }).write(part);

function drained(to: AnyResponse, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(late);
      to.off('drain', done);
      to.off('close', done);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const late = setTimeout(() => {
      breakOff(to);
      done();
    }, ms);
    to.on('drain', done);
    to.on('close', done);
    signal?.addEventListener('abort', done);
  });
}
