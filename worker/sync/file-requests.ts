/** Files to the hub and from it, over HTTP. */
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
import { refusedBy, retryAfterIn } from './http-transport.ts';
import { foreign } from './hub-queries.ts';

export interface FileRequestsOptions {
  /** Of the hub, without a slash at the end. */
  readonly url: string;
  readonly token: string;
  readonly fetch: typeof fetch;
  /** Aborts what is under way. */
  readonly signal: AbortSignal;
}

/** A chunk over a slow line: 1 MiB at 70 kbit/s. */
const DEADLINE_MS = 120_000;

export function fileRequests(options: FileRequestsOptions): FileTransport {
  const ask = <T>(...request: Request<T>) =>
    patiently(() => askOnce(options, ...request), options.signal);
  return {
    begin: (place, parts) =>
      ask(place, '', JSON.stringify(parts), jsonBy(missingChunks, 'missing chunks')),
    write: (place, n, bytes) =>
      ask(place, `/${n}`, bytes as Uint8Array<ArrayBuffer>, async (answer) => {
        // The login page of a network is sent with another one, and then the hub has nothing.
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
  /** Of the path. */
  rest: string,
  /** Undefined: the file is asked for. */
  body: string | Uint8Array<ArrayBuffer> | undefined,
  read: (answer: Response) => Promise<T>,
];

const WRITTEN = 204;

/** A hub, or a server on the way, that has too much to do says when to come again. */
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

/** @returns the response of who has too much to do */
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
      credentials: 'omit',
    });
    if (answer.ok) return { ok: true, value: await read(answer) };
    isBusy = BUSY.has(answer.status);
    return isBusy ? answer : await refusedBy(answer);
  } finally {
    // What such a response says is read later.
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
    schema(await answer.json(), name);
