/** Helpers for values in wire form, as parts of queries. */
import { quote, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { isSchemaName, NATIVE_KINDS } from '../values/native-kinds.ts';
import { isSetOp, wirePartsOfOp } from '../values/sets.ts';

export const isObject = (json: Json | undefined): json is JsonObject => json instanceof Map;

export const itemsOf = (json: Json | undefined): readonly Json[] =>
  Array.isArray(json) ? (json as readonly Json[]) : [];

export const textIn = (json: Json | undefined): string | undefined =>
  typeof json === 'string' ? json : undefined;

/**
 * The expression of a value: objects are wrapped; `@ref`, `@ts` and other tags stay as they are. Left out are members and elements that are
 * null, as in stored documents, and sets over deleted objects, as refs to deleted objects are when documents are read.
 */
export function expressionOf(json: Json): string {
  if (Array.isArray(json)) {
    const items = (json as readonly Json[]).filter(hasExpression);
    return `[${items.map(expressionOf).join(',')}]`;
  }
  if (!isObject(json)) return stringifyJson(json);
  const [tag = '', ...more] = json.keys();
  const inner = json.get(tag);
  // An object with a member that looks like a tag.
  if (more.length === 0 && tag === '@obj' && isObject(inner))
    return `{"object":{"@obj":${membersOf(inner)}}}`;
  if (more.length === 0 && tag.startsWith('@')) return stringifyJson(json);
  return `{"object":${membersOf(json)}}`;
}

const membersOf = (json: JsonObject): string =>
  `{${[...json]
    .filter(([, value]) => hasExpression(value))
    .map(([name, value]) => `${quote(name)}:${expressionOf(value)}`)
    .join(',')}}`;

const hasExpression = (json: Json): boolean => json !== null && !isGoneSet(json);

const isGoneSet = (json: Json): boolean =>
  isObject(json) && json.size === 1 && json.has('@set') && lacksPart(json.get('@set'));

/** Whether a set in an answer lacks its index, collection or document, or contains such a set. */
function lacksPart(set: Json | undefined): boolean {
  if (!isObject(set)) return false;
  const names = [...set.keys()];
  const op = names.find(isSetOp);
  if (op === undefined) return names.every((name) => name === 'terms');
  const parts = wirePartsOfOp(op);
  // An unknown name was misspelt by a person: it is not from a database's answer.
  if (!names.every((name) => parts.some(([, { wire }]) => wire === name))) return false;
  return parts.some(([, { kind, wire }]) => {
    const part = set.get(wire);
    if (part === undefined) return kind !== 'terms' && kind !== 'bound';
    // The set under `events` is written without its tag.
    return holdsGoneSet(part) || (kind === 'source' && lacksPart(part));
  });
}

function holdsGoneSet(json: Json): boolean {
  if (isGoneSet(json)) return true;
  if (isObject(json)) return !json.has('@set') && [...json.values()].some(holdsGoneSet);
  return itemsOf(json).some(holdsGoneSet);
}

/** The content of a `@ref`. */
export const refIn = (json: Json | undefined): JsonObject | undefined => {
  const inner = isObject(json) ? json.get('@ref') : undefined;
  return isObject(inner) ? inner : undefined;
};

/** The id in a `@ref`. */
export const idOfRef = (json: Json | undefined): string | undefined =>
  textIn(refIn(json)?.get('id'));

/** The name of the collection that contains the document of a `@ref`. */
export const collectionOfRef = (json: Json | undefined): string | undefined => {
  const collection = refIn(json)?.get('collection');
  return idOfRef(refIn(collection)?.get('collection')) === 'collections'
    ? idOfRef(collection)
    : undefined;
};

/** Wire text of the ref of a document. */
export const documentRefText = (collection: string, id: string): string =>
  `{"@ref":{"id":${quote(id)},"collection":${collectionRefText(collection)}}}`;

const collectionRefText = (name: string): string => schemaRefText('collections', name);

/** Wire text of the set of a collection's documents. */
export const documentsText = (collection: string): string =>
  `{"documents":${collectionRefText(collection)}}`;

/** Wire text of a page of a set. @param after the cursor in the page before it */
export function pageText(set: string, size: number, after?: Json): string {
  const cursor = after === undefined ? '' : `,"after":${expressionOf(after)}`;
  return `{"paginate":${set},"size":${size}${cursor}}`;
}

/** Wire text of a query for the documents of a page of refs, as of a time. */
export const documentsOfPage = (at: string, page: string): string =>
  `{"at":${at},"expr":{"map":{"lambda":"x","expr":{"get":{"var":"x"}}},"collection":${page}}}`;

export const schemaRefText = (kind: string, name: string): string =>
  `{"@ref":{"id":${quote(name)},"collection":{"@ref":{"id":${quote(kind)}}}}}`;

/** Describes a schema object, like `collection 'notes'`. */
export function schemaName(kind: string, name: string): string {
  const singular = isSchemaName(kind) ? NATIVE_KINDS[kind].singular : kind;
  return `${singular.replace('_', ' ')} '${name}'`;
}

const NO_MEMBERS = '{"object":{}}';

/** The fields of a document or schema object without those that are not stored if they are empty. */
export const withoutEmpty = (fields: JsonObject): JsonObject =>
  new Map(
    [...fields].filter(
      ([name, value]) =>
        !['data', 'permissions'].includes(name) || expressionOf(value) !== NO_MEMBERS,
    ),
  );

/** Equal values have the same text, regardless of the order of their members. */
export function canonicalText(json: Json): string {
  if (Array.isArray(json)) return `[${(json as readonly Json[]).map(canonicalText).join(',')}]`;
  if (!isObject(json)) return stringifyJson(json);
  const members = [...json].map(([name, value]) => `${quote(name)}:${canonicalText(value)}`);
  return `{${members.sort().join(',')}}`;
}

export const without = (json: JsonObject, ...names: readonly string[]): JsonObject =>
  new Map([...json].filter(([name]) => !names.includes(name)));
