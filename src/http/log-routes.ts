/** The log export API and the download of its files. The body of every error is `{message}`. Spec: seed "Log export API"; auth 6.3. */
import { quote } from '../codec/json.ts';
import { tryJson } from '../codec/plain-json.ts';
import type { Credential } from '../engine/host.ts';
import { Refusal, unreachable } from '../errors.ts';
import {
  ExportRefusal,
  readListRequest,
  readVersion,
  readExportRequest,
  type Members,
} from '../logs/export-request.ts';
import type { MakeUrl } from '../logs/export-rows.ts';
import type { Viewer } from '../logs/exports.ts';
import { secretOf } from './authorization.ts';
import { isTooLarge } from './body-size.ts';
import {
  answerText,
  UNAUTHORIZED_HEADERS,
  type HttpHost,
  type HttpRequest,
  type HttpResponse,
} from './message.ts';

export async function answerLogs(
  request: HttpRequest,
  rest: readonly string[],
  parameters: URLSearchParams,
  host: HttpHost,
): Promise<HttpResponse> {
  try {
    const answer = await doLogs(request, rest, parameters, host);
    return answerText(200, {}, JSON.stringify(answer));
  } catch (reason) {
    if (reason instanceof ExportRefusal || reason instanceof Refusal) return refuseMessage(reason);
    host.report?.(reason);
    return messageAnswer(500, 'Internal error in the database while handling the request.');
  }
}

const messageAnswer = (status: number, message: string): HttpResponse =>
  answerText(status, status === 401 ? UNAUTHORIZED_HEADERS : {}, `{"message":${quote(message)}}`);

const refuseMessage = ({ status, message }: ExportRefusal | Refusal): HttpResponse =>
  messageAnswer(status, message);

/** The actions of the log API, each with its HTTP method. */
type Action =
  | { readonly name: 'request' | 'list'; readonly method: 'POST' }
  | { readonly name: 'status'; readonly method: 'GET'; readonly id: string }
  | { readonly name: 'url'; readonly method: 'POST'; readonly id: string };

function findAction([root, id, last, ...rest]: readonly string[]): Action | undefined {
  if (root !== 'logs' || rest.length > 0) return undefined;
  if (id === undefined) return { name: 'request', method: 'POST' };
  if (last === 'url') return { name: 'url', method: 'POST', id };
  if (last !== undefined) return undefined;
  return id === '_list' ? { name: 'list', method: 'POST' } : { name: 'status', method: 'GET', id };
}

async function doLogs(
  request: HttpRequest,
  rest: readonly string[],
  parameters: URLSearchParams,
  host: HttpHost,
): Promise<unknown> {
  const action = findAction(rest);
  const { exports } = host;
  if (!action || !exports) throw new ExportRefusal(404, 'There is no route with this path.');
  const { secret, credential } = await requireAdmin(request, host);
  if (request.method !== action.method)
    throw new ExportRefusal(405, `This route accepts only ${action.method}.`);
  const { database, since } = credential;
  const viewer: Viewer = { database, since, makeUrl: urlMaker(request.base) };
  checkParameters(action, parameters);
  switch (action.name) {
    case 'request': {
      const exportRequest = readExportRequest(readMembers(request), exports.regionGroup);
      await requireDatabase(exportRequest, viewer, secret, host);
      return exports.request(exportRequest, viewer);
    }
    case 'status':
      return exports.status(action.id, viewer);
    case 'url':
      return exports.createUrl(action.id, readVersion(readMembers(request)), viewer);
    case 'list':
      return exports.list(readListRequest(readMembers(request)), viewer);
    default:
      return unreachable(action);
  }
}

async function requireAdmin(
  { headers }: HttpRequest,
  { engine }: HttpHost,
): Promise<{ readonly secret: string; readonly credential: Credential }> {
  const header = headers['authorization'];
  const secret = header?.trimStart().startsWith('Bearer') === true ? secretOf(header) : undefined;
  if (secret === undefined)
    throw new ExportRefusal(401, 'The header Authorization with a bearer credential is required.');
  const credential = await engine.authenticate(secret);
  if (!credential) throw new ExportRefusal(401, 'The bearer credential is not valid.');
  if (credential.role !== 'admin' || credential.label.kind === 'token')
    throw new ExportRefusal(403, 'The bearer credential must be an admin key.');
  return { secret, credential };
}

/** `regionGroup` is required and ignored, as the hosted service did. */
function checkParameters(action: Action, parameters: URLSearchParams): void {
  const type = parameters.get('type');
  if (type !== 'query')
    throw new ExportRefusal(
      400,
      type === null ? "type is required: 'query'." : "type must be 'query'.",
    );
  const group = parameters.get('regionGroup') ?? parameters.get('region_group');
  if (action.name !== 'request' && (group === null || group === ''))
    throw new ExportRefusal(400, 'regionGroup is required.');
}

function readMembers({ body }: HttpRequest): Members {
  if (isTooLarge(body)) throw new ExportRefusal(413, 'The body is too large.');
  if (body === undefined || body.trim() === '') return {};
  const json = tryJson(body);
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new ExportRefusal(400, 'The body must be a JSON object.');
  return json as Members;
}

/** Responds alike for a missing database and for one that the caller may not see, so that the response does not reveal which it is. */
async function requireDatabase(
  { database, path }: { readonly database?: string; readonly path: readonly string[] },
  viewer: Viewer,
  secret: string,
  { engine }: HttpHost,
): Promise<void> {
  const own = viewer.database;
  if (database === undefined && own.length > 0)
    throw new ExportRefusal(
      403,
      'A key of a child database cannot export a whole region group. Specify the database.',
    );
  const below = path.slice(own.length);
  const isWithin = own.every((name, index) => path[index] === name);
  if (isWithin && below.length === 0) return;
  if (isWithin) {
    const answer = await engine.query({
      secret,
      query: `{"exists":${databaseText(below)}}`,
      apiVersion: '4',
      allows: 'read',
    });
    if (answer.body === '{"resource":true}') return;
  }
  throw new ExportRefusal(404, `There is no database '${database ?? ''}'.`);
}

const databaseText = (names: readonly string[]): string =>
  names.reduce(
    (scope, name) => `{"database":${quote(name)}${scope === '' ? '' : `,"scope":${scope}`}}`,
    '',
  );

/** Without a base URL of the API, a text that names the file is returned, from which the caller makes the URL. */
const urlMaker =
  (base: string | undefined): MakeUrl =>
  ({ requestId, version, signature }) =>
    base === undefined
      ? `burrow-file:${requestId}/${version}`
      : `${base}/files/${requestId}/${version}?signature=${signature}`;

/** Serves a file. Its URL is the credential: it permits the download until it expires. */
export async function answerFile(
  { method }: HttpRequest,
  { requestId, version }: { readonly requestId: string; readonly version: number },
  parameters: URLSearchParams,
  { exports }: HttpHost,
): Promise<HttpResponse> {
  if (method !== 'GET' && method !== 'HEAD')
    return messageAnswer(405, 'This route accepts only GET.');
  const signature = parameters.get('signature') ?? '';
  const file = await exports?.file(requestId, version, signature);
  if (!file) return messageAnswer(403, 'This URL has expired or is not valid: create a new one.');
  // With this content type and a fixed file name, no browser renders the file as a page, whatever it contains.
  const headers = {
    'content-type': 'application/gzip',
    'content-disposition': `attachment; filename="${file.name}"`,
    'content-length': String(file.bytes),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  return { status: 200, headers, body: method === 'HEAD' ? '' : file.chunks };
}
