/** Transfers files to and from the hub over HTTP. */
import type { FileTransport } from '../../src/sync/device/files/file-transport.ts';
import { ForeignAnswer, type HubAnswer } from '../../src/sync/device/syncer/transport.ts';
import {
  manifest,
  missingChunks,
  type FileHome,
  type FilePlace,
} from '../../src/sync/protocol/files.ts';
import type { Schema } from '../../src/sync/protocol/schema.ts';
import { abortWith } from '../../hosts/abort-with.ts';
import { waitUnlessAborted } from '../browser/wait.ts';
import { readAnswer, refusedBy, retryAfterIn } from './http-transport.ts';
import { foreign, TO_HUB_ALONE } from './hub-queries.ts';

export interface FileRequestsOptions {
  /** URL of the hub, without a slash at the end. */
  readonly url: string;
  readonly token: string;
  readonly fetch: typeof fetch;
  /** Aborts requests in progress. */
  readonly signal: AbortSignal;
}

/** Enough for a chunk over a slow connection: 1 MiB at 70 kbit/s. */
const DEADLINE_MS = 120_000;

export function fileRequests(options: FileRequestsOptions): FileTransport {
  const ask = <T>(...request: Request<T>) =>
    patiently(() => askOnce(options, ...request), options.signal);
  return {
    begin: (place, parts) =>
      ask(place, '', JSON.stringify(parts), jsonBy(missingChunks, 'missing chunks')),
    write: (place, n, bytes) =>
      ask(place, `/${n}`, bytes as Uint8Array<ArrayBuffer>, async (answer) => {
        // A captive portal responds with another success status, although the hub has not received the chunk.
        if (answer.status !== WRITTEN) throw new ForeignAnswer(foreign(answer).message);
        return undefined;
      }),
    manifest: (place) => ask(place, '', undefined, jsonBy(manifest, 'manifest')),
    read: (place, n) =>
      ask(place, `/${n}`, undefined, async (answer) => new Uint8Array(await answer.arrayBuffer())),
  };
}

type Request<T> = readonly [
  place: FilePlace,
  /** The rest of the path. */
  rest: string,
  /** Undefined: the request is a GET. */
  body: string | Uint8Array<ArrayBuffer> | undefined,
  read: (answer: Response) => Promise<T>,
];

const WRITTEN = 204;

/** Statuses of a hub, or a proxy, that is overloaded. `Retry-After` says when to retry. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);
const BUSY_TRIES = 5;
const BUSY_MS_MAX = 10_000;

async function patiently<T>(
  once: () => Promise<HubAnswer<T> | Response>,
  signal: AbortSignal,
): Promise<HubAnswer<T>> {
  for (let tried = 1; ; tried++) {
    const answer = await once();
    if (!(answer instanceof Response)) return answer;
    const waitMs = retryAfterIn(answer.headers.get('retry-after'), Date.now());
    if (tried === BUSY_TRIES || waitMs === undefined || signal.aborted) return refusedBy(answer);
    await answer.body?.cancel();
    await waitUnlessAborted(Math.min(waitMs, BUSY_MS_MAX), signal);
  }
}

/** @returns the response itself when the server is overloaded */
async function askOnce<T>(
  { url, token, fetch, signal }: FileRequestsOptions,
  ...[{ file, home }, rest, body, read]: Request<T>
): Promise<HubAnswer<T> | Response> {
  const ended = abortWith(signal, AbortSignal.timeout(DEADLINE_MS));
  let isBusy = false;
  try {
    const path = `${file.slice('file:'.length)}${rest}?${documentIn(home)}`;
    const answer = await fetch(`${url}/files/${path}`, {
      method: body === undefined ? 'GET' : 'PUT',
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body }),
      signal: ended.signal,
      ...TO_HUB_ALONE,
    });
    if (answer.ok) return { ok: true, value: await read(answer) };
    isBusy = BUSY.has(answer.status);
    return isBusy ? answer : await refusedBy(answer);
  } finally {
    // The body of an overload response is read later.
    if (!isBusy) ended.abort();
  }
}

const documentIn = ([collection, id]: FileHome): URLSearchParams =>
  new URLSearchParams({
    [typeof collection === 'number' ? 'number' : 'collection']: String(collection),
    id,
  });

const jsonBy =
  <T>(schema: Schema<T>, name: string) =>
  async (answer: Response): Promise<T> =>
    readAnswer(await answer.text(), schema, name, answer);
