/** Values in wire form, as parts of queries. */
import { quote, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { isSchemaName, NATIVE_KINDS } from '../values/native-kinds.ts';
import { isSetOp, wirePartsOfOp } from '../values/sets.ts';

export const isObject = (json: Json | undefined): json is JsonObject => json instanceof Map;

export const itemsOf = (json: Json | undefined): readonly Json[] =>
  Array.isArray(json) ? (json as readonly Json[]) : [];

export const textIn = (json: Json | undefined): string | undefined =>
  typeof json === 'string' ? json : undefined;

/**
 * The expression of a value: objects are wrapped, `@ref`, `@ts` and other tags stay as they are. Members and elements that are null are
 * left out, as they are where documents are stored, and sets over what is gone, as refs to it are where documents are read.
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

/** Whether a set was answered without its index, collection or document, or holds such a set. */
function lacksPart(set: Json | undefined): boolean {
  if (!isObject(set)) return false;
  const names = [...set.keys()];
  const op = names.find(isSetOp);
  if (op === undefined) return names.every((name) => name === 'terms');
  const parts = wirePartsOfOp(op);
  // What is misspelt is not what a database answers.
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

/** The inside of a `@ref`. */
export const refIn = (json: Json | undefined): JsonObject | undefined => {
  const inner = isObject(json) ? json.get('@ref') : undefined;
  return isObject(inner) ? inner : undefined;
};

/** The id of what a `@ref` names. */
export const idOfRef = (json: Json | undefined): string | undefined =>
  textIn(refIn(json)?.get('id'));

/** The name of the collection that the document of a `@ref` is in. */
export const collectionOfRef = (json: Json | undefined): string | undefined => {
  const collection = refIn(json)?.get('collection');
  return idOfRef(refIn(collection)?.get('collection')) === 'collections'
    ? idOfRef(collection)
    : undefined;
};

/** Wire text of the ref of a document. */
export const documentRefText = (collection: string, id: string): string =>
  `{"@ref":{"id":${quote(id)},"collection":${collectionRefText(collection)}}}`;

export const collectionRefText = (name: string): string => schemaRefText('collections', name);

export const schemaRefText = (kind: string, name: string): string =>
  `{"@ref":{"id":${quote(name)},"collection":{"@ref":{"id":${quote(kind)}}}}}`;

/** In words. */
export function schemaName(kind: string, name: string): string {
  const singular = isSchemaName(kind) ? NATIVE_KINDS[kind].singular : kind;
  return `${singular.replace('_', ' ')} '${name}'`;
}

/** The same text for the same value, whatever the order of members. */
export function canonicalText(json: Json): string {
  if (Array.isArray(json)) return `[${(json as readonly Json[]).map(canonicalText).join(',')}]`;
  if (!isObject(json)) return stringifyJson(json);
  const members = [...json].map(([name, value]) => `${quote(name)}:${canonicalText(value)}`);
  return `{${members.sort().join(',')}}`;
}

export const without = (json: JsonObject, ...names: readonly string[]): JsonObject =>
  new Map([...json].filter(([name]) => !names.includes(name)));
