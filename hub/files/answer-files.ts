/**
 * Files over HTTP; does not depend on Node. `/files/<64 digits>` is the manifest of a file and `/files/<64 digits>/<n>` one of
 * its chunks. PUT uploads, GET downloads. The query of the URL names the document that refers to the file: `collection`, or its
 * `number`, and `id`.
 */
import { tryJson } from '../../src/codec/plain-json.ts';
import { utf8Text } from '../../src/codec/utf8.ts';
import { Refusal } from '../../src/errors.ts';
import { secretOf } from '../../src/http/authorization.ts';
import type { HttpResponse } from '../../src/http/message.ts';
import type { FileHub } from '../../src/sync/hub/files/file-hub.ts';
import { SyncRefused } from '../../src/sync/protocol/refusals.ts';
import type { HubRequest } from '../http/route.ts';
import { answerWith, NO_CREDENTIAL, refuseSync } from '../sync/answer-sync.ts';

export const FILES_PREFIX = '/files/';
export const isFilePath = (path: string): boolean => /^\/files\/[\da-f]{64}(?:\/|$)/.test(path);
/** Whether the path is that of a chunk, whose body is bytes; the body of a manifest is parsed. @param path including its search */
export const isChunkPath = (path: string): boolean => /^\/files\/[\da-f]{64}\/\d/.test(path);

export type FilesRequest = Pick<HubRequest, 'method' | 'path' | 'headers' | 'bytes'>;

/** @param files undefined if the hub has no store of files */
export async function answerFiles(
  request: FilesRequest,
  files: FileHub | undefined,
): Promise<HttpResponse> {
  const [path = '', search = ''] = request.path.split('?', 2);
  const found = /^\/files\/([\da-f]{64})(?:\/(0|[1-9]\d{0,5}))?$/.exec(path);
  if (!found) throw new Refusal('not found', `There is nothing at ${path}.`);
  const { method } = request;
  if (method !== 'GET' && method !== 'PUT')
    throw new Refusal('method not allowed', `${path} takes GET and PUT, not ${method}.`);
  const secret = secretOf(request.headers['authorization']);
  if (secret === undefined) return refuseSync(NO_CREDENTIAL);
  if (!files) return refuseSync(NO_FILES);
  const place = { file: `file:${found[1]}`, home: homeIn(new URLSearchParams(search)) };
  const n = found[2] === undefined ? undefined : Number(found[2]);
  try {
    if (method === 'GET')
      return n === undefined
        ? json(await files.manifest(secret, place))
        : octets(await files.read(secret, place, n));
    if (n === undefined)
      return json(
        await files.begin(secret, place, tryJson(request.bytes && utf8Text(request.bytes))),
      );
    await files.write(secret, place, n, request.bytes ?? new Uint8Array());
    return STORED;
  } catch (reason) {
    if (reason instanceof SyncRefused) return refuseSync(reason.refusal);
    throw reason;
  }
}

function homeIn(query: URLSearchParams): unknown {
  const number = query.get('number');
  return [number === null ? query.get('collection') : Number(number), query.get('id')];
}

const json = (value: unknown): HttpResponse => answerWith(JSON.stringify(value));

const STORED: HttpResponse = {
  status: 204,
  headers: { 'cache-control': 'no-store' },
  body: '',
};

/** A browser that opens the URL downloads the bytes instead of showing them as a page of this origin. */
const octets = (bytes: Uint8Array): HttpResponse => ({
  status: 200,
  headers: {
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  },
  body: '',
  bytes,
});

const NO_FILES = {
  code: 'no_files',
  description: 'This hub does not store files. Whoever runs it can change that with --files.',
} as const;
