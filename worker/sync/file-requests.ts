/** Files to the hub and from it, over HTTP. */
import type { FileTransport } from '../../src/sync/device/files/file-transport.ts';
import type { HubAnswer } from '../../src/sync/device/syncer/transport.ts';
import {
  manifest,
  missingChunks,
  type FileHome,
  type FilePlace,
} from '../../src/sync/protocol/files.ts';
import type { Schema } from '../../src/sync/protocol/schema.ts';
import { refusedBy } from './http-transport.ts';

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
  return {
    begin: (place, parts) =>
      ask(options, place, '', JSON.stringify(parts), jsonBy(missingChunks, 'missing chunks')),
    write: (place, n, bytes) =>
      ask(options, place, `/${n}`, bytes as Uint8Array<ArrayBuffer>, () =>
        Promise.resolve(undefined),
      ),
    manifest: (place) => ask(options, place, '', undefined, jsonBy(manifest, 'manifest')),
    read: (place, n) =>
      ask(
        options,
        place,
        `/${n}`,
        undefined,
        async (answer) => new Uint8Array(await answer.arrayBuffer()),
      ),
  };
}

async function ask<T>(
  { url, token, fetch, signal }: FileRequestsOptions,
  { file, home }: FilePlace,
  rest: string,
  body: string | Uint8Array<ArrayBuffer> | undefined,
  read: (answer: Response) => Promise<T>,
): Promise<HubAnswer<T>> {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  const late = setTimeout(end, DEADLINE_MS);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    const path = `${file.slice('file:'.length)}${rest}?${documentIn(home)}`;
    const answer = await fetch(`${url}/files/${path}`, {
      method: body === undefined ? 'GET' : 'PUT',
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body }),
      signal: stop.signal,
      credentials: 'omit',
    });
    return answer.ok ? { ok: true, value: await read(answer) } : await refusedBy(answer);
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', end);
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
