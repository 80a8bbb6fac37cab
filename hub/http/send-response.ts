/** Writes an answer to the wire. A stream goes as fast as it is read; who does not read is let go. */
import type { HttpResponse } from '../../src/http/message.ts';
import type { AnyResponse } from './acceptor.ts';

/** No connection headers over HTTP/2: the protocol has none. */
export function writeHead(
  response: AnyResponse,
  { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
  more: Readonly<Record<string, string>> = {},
): void {
  const isHttp2 = 'stream' in response;
  const all: string[] = [];
  for (const [name, value] of [...Object.entries(headers), ...Object.entries(more)])
    if (!isHttp2 || name !== 'connection') all.push(name, value);
  (response as { writeHead(status: number, headers: string[]): void }).writeHead(status, all);
}

export function sendText(
  response: AnyResponse,
  answer: HttpResponse & { readonly body: string },
  more: Readonly<Record<string, string>> = {},
): void {
  const length = answer.headers['content-length'] ?? String(Buffer.byteLength(answer.body));
  writeHead(response, answer, { 'content-length': length, ...more });
  response.end(answer.body);
}

/** Resolves when the stream has ended, whoever ended it. */
export async function sendStream(
  response: AnyResponse,
  answer: HttpResponse & { readonly body: Exclude<HttpResponse['body'], string> },
  { signal, slowReaderMs }: { readonly signal: AbortSignal; readonly slowReaderMs: number },
): Promise<void> {
  writeHead(response, answer);
  // Over HTTP/2 they have gone out already.
  if ('flushHeaders' in response) response.flushHeaders();
  const parts = (answer.body as AsyncIterable<string | Uint8Array>)[Symbol.asyncIterator]();
  const stop = (): void => void parts.return?.();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      const part = await parts.next();
      if (part.done === true || signal.aborted) break;
      if (!write(response, part.value)) await drained(response, signal, slowReaderMs);
    }
    response.end();
  } catch (reason) {
    // What was sent cannot be taken back: a stream that breaks off says so by breaking off.
    response.destroy();
    throw reason;
  } finally {
    signal.removeEventListener('abort', stop);
    await parts.return?.();
  }
}

const write = (response: AnyResponse, part: string | Uint8Array): boolean =>
  (response as { write(part: string | Uint8Array): boolean }).write(part);

function drained(response: AnyResponse, signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(late);
      response.off('drain', done);
      response.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const late = setTimeout(() => {
      response.destroy();
      done();
    }, ms);
    response.on('drain', done);
    response.on('close', done);
    signal.addEventListener('abort', done);
  });
}
