/**
 * The older REST API: a path names a native collection, a schema object or a document, and method and body become a query. The hosted
 * service did not document it. The `self` endpoint is part of it. Spec: auth 4.1.
 */
import { Refusal, unreachable } from '../errors.ts';
import { quote, stringifyJson, tryParseJson, type Json } from '../codec/json.ts';
import { type NativeName, NATIVE_KINDS } from '../values/native-kinds.ts';

type Kind = NativeName | 'classes';

const isKind = (name: string | undefined): name is Kind =>
  name !== undefined && (name === 'classes' || Object.hasOwn(NATIVE_KINDS, name));

/** Whether members are identified by name. The others are identified by id. */
const isNamed = (kind: Kind): boolean =>
  NATIVE_KINDS[kind === 'classes' ? 'collections' : kind].isNamed;

export type RestTarget = { readonly events: boolean } & (
  | { readonly of: 'kind'; readonly kind: Kind }
  /** A schema object, key, token or credentials document. If `kind` is a collection kind, POST creates a document in the collection. */
  | { readonly of: 'member'; readonly kind: Kind; readonly name: string }
  | { readonly of: 'document'; readonly collection: string; readonly id: string }
  | { readonly of: 'self'; readonly kind: Kind; readonly collection: string | undefined }
);

/** Finds the target of a path. Undefined if the route is unknown. `segments` are decoded. */
export function findRestTarget(segments: readonly string[]): RestTarget | undefined {
  const events = segments.length > 1 && segments.at(-1) === 'events';
  const [first, name, id, ...rest] = events ? segments.slice(0, -1) : segments;
  if (!isKind(first) || rest.length > 0) return undefined;
  const kind = first;
  if (name === undefined) return { of: 'kind', kind, events };
  const isCollection = kind === 'classes' || kind === 'collections';
  if (id === undefined) {
    if (name === 'self' && !isNamed(kind))
      return { of: 'self', kind, collection: undefined, events };
    return { of: 'member', kind, name, events };
  }
  if (!isCollection) return undefined;
  if (id === 'self') return { of: 'self', kind, collection: name, events };
  return { of: 'document', collection: name, id, events };
}

export interface RestQuery {
  readonly query: string;
  readonly allows: 'write' | 'read';
}

/** Why a request has no query. */
export type RestRefusal = 'method not allowed' | 'invalid body' | 'invalid url parameter';

export function restQuery(
  target: RestTarget,
  method: string,
  parameters: URLSearchParams,
  body: string | undefined,
): RestQuery | RestRefusal {
  if (method === 'GET') return restRead(target, parameters);
  const methods = target.of === 'kind' ? ['POST'] : ['POST', 'PUT', 'PATCH', 'DELETE'];
  if (target.events || !methods.includes(method)) return 'method not allowed';
  const write = (query: string): RestQuery => ({ query, allows: 'write' });
  if (method === 'DELETE') return write(`{"delete":${refText(target)}}`);
  const params = paramsText(body);
  if (params === undefined) return 'invalid body';
  if (method === 'POST') return write(`{"create":${refText(target)},"params":${params}}`);
  const form = method === 'PUT' ? 'replace' : 'update';
  return write(`{"${form}":${refText(target)},"params":${params}}`);
}

function restRead(target: RestTarget, parameters: URLSearchParams): RestQuery | RestRefusal {
  const ref = refText(target);
  if (target.of !== 'kind' && !target.events) return { query: `{"get":${ref}}`, allows: 'read' };
  const options = pageOptions(parameters);
  if (options === undefined) return 'invalid url parameter';
  const set = target.events ? `{"events":${ref}}` : ref;
  return { query: `{"paginate":${set}${options}}`, allows: 'read' };
}

/** Literal refs, because functions such as `access_providers` are missing in older API versions. */
function refText(target: RestTarget): string {
  switch (target.of) {
    case 'kind':
      return nativeRef(target.kind);
    case 'member': {
      const { kind, name } = target;
      // A literal whose id is not a number would not be parsed.
      return isNamed(kind)
        ? refOfMember(name, kind)
        : `{"ref":${nativeRef(kind)},"id":${quote(name)}}`;
    }
    case 'document':
      return `{"ref":{"collection":${quote(target.collection)}},"id":${quote(target.id)}}`;
    case 'self': {
      const collection =
        target.collection === undefined
          ? nativeRef(target.kind)
          : refOfMember(target.collection, 'collections');
      return `{"@ref":{"id":"self","collection":${collection}}}`;
    }
    default:
      return unreachable(target);
  }
}

const nativeRef = (kind: Kind): string => `{"@ref":{"id":"${kind}"}}`;

const refOfMember = (name: string, kind: Kind): string =>
  `{"@ref":{"id":${quote(name)},"collection":${nativeRef(kind)}}}`;

function pageOptions(parameters: URLSearchParams): string | undefined {
  let options = '';
  for (const side of ['after', 'before'] as const) {
    const cursor = parameters.get(side);
    if (cursor !== null) options += `,"${side}":${cursorText(cursor)}`;
  }
  const size = parameters.get('size');
  if (size === null) return options;
  return /^\d{1,9}$/.test(size) ? `${options},"size":${size}` : undefined;
}

/** A cursor is the JSON of a value, a bare timestamp, or the path of a ref. */
function cursorText(cursor: string): string {
  const json = tryParseJson(cursor);
  return json === undefined ? `{"@ref":${quote(cursor)}}` : dataText(json);
}

/** Puts a body into a query that `restQuery` made without it, because the body was read later. @throws Refusal */
export function withBody(query: string, body: string | undefined): string {
  const params = paramsText(body);
  if (params === undefined) throw new Refusal('bad request', NO_OBJECT);
  const at = query.lastIndexOf(NO_PARAMS);
  return query.slice(0, at) + params + query.slice(at + NO_PARAMS.length);
}

export const NO_OBJECT = 'Request body is not a JSON object.';
const NO_PARAMS = '{"quote":{}}';

/** Undefined if the body is not an object. A missing body counts as an empty object. */
function paramsText(body: string | undefined): string | undefined {
  if (body === undefined || body.trim() === '') return dataText(new Map());
  const json = tryParseJson(body);
  return json instanceof Map ? dataText(json) : undefined;
}

/** Expressions in it are not evaluated; only tagged values (`@ref`, `@ts`…) are. */
const dataText = (json: Json): string => `{"quote":${stringifyJson(json)}}`;
