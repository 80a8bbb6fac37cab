/** The target that a stream follows, from the value of the query that opened it. Spec: auth 5. */
import { stringifyJson, type Json } from '../codec/json.ts';
import { typeName } from '../values/type-name.ts';
import { resourceOf } from './stream-events.ts';

/** `wire`: the ref of the document, or the set, as wire JSON. */
export type StreamTarget =
  | { readonly of: 'document'; readonly wire: string }
  /** `index` and `terms` become members of the events. */
  | { readonly of: 'set'; readonly wire: string; readonly index: Json; readonly terms: Json };

/** The target, or undefined if the value cannot be followed. `body`: `{"resource":…}`. */
export function streamTarget(body: string): StreamTarget | undefined {
  const resource = resourceOf(body);
  if (!(resource instanceof Map)) return undefined;
  const set = resource.get('@set');
  if (set !== undefined) return setTarget(set, stringifyJson(resource));
  return (
    documentTarget(resource) ??
    (resource.has('ts') ? documentTarget(resource.get('ref')) : undefined)
  );
}

/** Wire JSON of the value, if it is a ref. A ref to a document that does not exist is rendered like any other. */
export function refOf(body: string): string | undefined {
  const resource = resourceOf(body);
  return member(resource, '@ref') === undefined ? undefined : stringifyJson(resource ?? null);
}

/** Why the value cannot be followed. If it is neither a ref nor a set, programs compare this text. */
export const unfitFor = (body: string): string =>
  `Expected a Document Ref or Version, or a Set Ref, got ${nameOf(resourceOf(body) ?? null)}.`;

function nameOf(json: Json): string {
  if (!(json instanceof Map)) return typeName(json);
  const [tag = ''] = json.keys();
  return /^@(?:ref|set)$/.test(tag) ? 'one that no stream follows' : (NAMES.get(tag) ?? 'Object');
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ['@ts', 'Time'],
  ['@date', 'Date'],
  ['@bytes', 'Bytes'],
  ['@uuid', 'UUID'],
  ['@query', 'Lambda'],
]);

const member = (json: Json | undefined, name: string): Json | undefined =>
  json instanceof Map ? json.get(name) : undefined;

function setTarget(set: Json, wire: string): StreamTarget | undefined {
  const documents = member(set, 'documents');
  const index = documents ?? member(set, 'match');
  if (index === undefined || (documents !== undefined && !isUserCollection(documents)))
    return undefined;
  const terms = member(set, 'terms') ?? [];
  return { of: 'set', wire, index, terms: Array.isArray(terms) ? terms : [terms] };
}

function documentTarget(json: Json | undefined): StreamTarget | undefined {
  return json !== undefined && isUserCollection(holderOf(json))
    ? { of: 'document', wire: stringifyJson(json) }
    : undefined;
}

/** The ref of a native collection itself has no collection. */
function isUserCollection(json: Json | undefined): boolean {
  const holder = member(holderOf(json), '@ref');
  const name = member(holder, 'id') ?? holder;
  return name === 'collections' || name === 'classes';
}

/**
 * The collection in `{"@ref":{"id":"1","collection":{"@ref":{"id":"users","collection":…}}}}`. Older API versions write `class` instead,
 * and the first a path: `classes/users/1`.
 */
function holderOf(json: Json | undefined): Json | undefined {
  const ref = member(json, '@ref');
  return typeof ref === 'string'
    ? new Map([['@ref', ref.replace(/\/?[^/]*$/, '')]])
    : (member(ref, 'collection') ?? member(ref, 'class'));
}
