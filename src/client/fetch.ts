import type { HttpCall, HttpReply } from '../host/query.ts';
import { UsageError } from './errors.ts';
import { abortSignal, acceptedValue, anyText } from './read-options.ts';

/** The part of `AbortSignal` that is used: with the original driver, Node users pass signals that are not instances of `AbortSignal`. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export interface FetchInit {
  readonly method?: string;
  /** Values may be numbers, because the original driver sends some. */
  readonly headers?:
    | Headers
    | readonly (readonly [string, string | number])[]
    | Readonly<Record<string, string | number | null | undefined>>
    | undefined;
  readonly body?: BodyInit | null | undefined;
  readonly signal?: AbortSignalLike | null | undefined;
}

export type BurrowFetch = (
  input: string | URL | Request,
  init?: FetchInit | null,
) => Promise<Response>;

/** What the fetch function needs from the database. */
export interface FetchHost {
  http(call: HttpCall): Promise<HttpReply>;
  openStream(stream: number, onEnd: () => void): ReadableStream<Uint8Array>;
  abortStream(stream: number, reason: unknown): void;
}

/**
 * The HTTP API of the database as a `fetch` function: it has the same signature, and the worker answers. The host of a URL is ignored. The
 * function does not use `this`, so it can be passed on by itself.
 */
export const fetchFrom =
  (host: FetchHost): BurrowFetch =>
  async (input, init) => {
    init ??= {};
    const request = input instanceof Request ? input : undefined;
    const signal = init.signal ?? request?.signal;
    acceptedValue(abortSignal, signal, 'signal');
    if (signal?.aborted) throw abortError(signal);
    acceptedValue(anyText, init.method, 'method');
    const call: HttpCall = {
      method: (init.method ?? request?.method ?? 'GET').toUpperCase(),
      path: pathOf(request?.url ?? (input as string | URL)),
      headers: headersOf(init.headers ?? request?.headers),
      body: await bodyOf(init.body ?? request?.body),
    };
    const reply = await orAborted(host.http(call), signal, (late) => {
      if (typeof late.body !== 'string') host.abortStream(late.body.stream, abortError(signal));
    });
    const headers = new Headers({ ...reply.headers });
    const { status } = reply;
    const isEmpty = call.method === 'HEAD' || status === 204 || status === 304;
    if (typeof reply.body === 'string') {
      return new Response(isEmpty ? null : reply.body, { status, headers });
    }
    const { stream } = reply.body;
    const onAbort = (): void => host.abortStream(stream, abortError(signal));
    // A signal may outlive many streams, so the listener is removed when the stream ends.
    const body = host.openStream(stream, () => signal?.removeEventListener('abort', onAbort));
    signal?.addEventListener('abort', onAbort);
    return new Response(body, { status, headers });
  };

/** Path and query string of a URL. For `http://host:1`, the path is `/`. */
function pathOf(url: string | URL): string {
  try {
    // Without the default, a missing URL would become the path `/undefined`.
    const { pathname, search } = new URL(url ?? '//', 'http://burrow.local/');
    return pathname.replace(/^\/*/, '/') + search;
  } catch (cause) {
    throw new UsageError(`db.fetch needs a URL, but got: ${String(url)}`, { cause });
  }
}

function headersOf(given: FetchInit['headers']): Record<string, string> {
  if (!given) return {};
  const entries: Iterable<readonly [string, string | number | null | undefined]> =
    given instanceof Headers || Array.isArray(given)
      ? (given as Iterable<readonly [string, string | number]>)
      : Object.entries(given);
  const headers: Record<string, string> = {};
  for (const [name, value] of entries) {
    if (value !== undefined && value !== null) headers[name.toLowerCase()] = String(value);
  }
  return headers;
}

async function bodyOf(body: BodyInit | null | undefined): Promise<string | undefined> {
  if (body === null || body === undefined) return undefined;
  return typeof body === 'string' ? body : new Response(body).text();
}

const abortError = (signal: AbortSignalLike | null | undefined): Error =>
  Object.assign(new DOMException('The request was aborted.', 'AbortError'), {
    cause: signal?.reason,
  });

/** Rejects as soon as `signal` is aborted. A result that arrives later is passed to `dropLate`. */
function orAborted<T>(
  work: Promise<T>,
  signal: AbortSignalLike | null | undefined,
  dropLate: (late: T) => void,
): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortError(signal));
    signal.addEventListener('abort', onAbort);
    // The signal may have been aborted while the request's body was being read.
    if (signal.aborted) onAbort();
    work
      .then((value) => {
        if (signal.aborted) dropLate(value);
        else resolve(value);
      }, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}
