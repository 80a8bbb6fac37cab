/** Turns parsed wire JSON into the values that a caller gets: tags become values, and numbers are exact. */
import { Bytes, Double, FaunaDate, FaunaTime, Query, Ref, SetRef, Uuid } from './values.ts';

/** Keys of placeholders for numbers that `JSON.parse` would change. They are random, so that no object in a result has such a key. */
const LONG = `@long ${Math.random()}`;
const DOUBLE = `@double ${Math.random()}`;

/** Matches text that may contain a number beyond 2^53. It also matches some other numbers, and digits in strings, which only costs time. */
const LONG_NUMBER = /(?:^|[:,[])\s*-?(?:\d{17}|9\d{15})/;
/**
 * Matches tags whose contents are not plain values. Functions and sets are sent back as they came, so `1.0` in them must stay a Double. In
 * an escaped object, `@ref` may be the name of a member.
 */
const NOT_VALUES = /"@(?:obj|query|set)"/;
const WHOLE_DOUBLE = /\d(?:\.0|[eE])/;
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(\.\d+)?([eE][+-]?\d+)?/g;

/**
 * Like `JSON.parse`, with placeholders for `revive`.
 * @param wire whether some of the text is inside a function or set
 */
export function parseWire(text: string, wire = NOT_VALUES.test(text)): unknown {
  const doubles = wire && WHOLE_DOUBLE.test(text);
  if (!doubles && !LONG_NUMBER.test(text)) return JSON.parse(text);
  return JSON.parse(
    text.replace(TEXT_OR_NUMBER, (token, fraction?: string, exponent?: string) => {
      if (token.startsWith('"')) return token;
      if (fraction === undefined && exponent === undefined) {
        return Number.isSafeInteger(Number(token)) ? token : `{"${LONG}":"${token}"}`;
      }
      return Number.isInteger(Number(token)) ? `{"${DOUBLE}":"${token}"}` : token;
    }),
  );
}

/** Matches a ref to a document of the query's own database. It never matches inside a string, where quotes are escaped. */
const DOCUMENT_REF =
  /\{"@ref":\{"id":"(\d+)","collection":\{"@ref":\{"id":"([^"\\]+)","collection":\{"@ref":\{"id":"collections"\}{6}/g;
/** Prefix of the tag of a shortened ref. The name of the ref's collection follows. */
const SHORT_REF = `@ref ${Math.random()} `;

/** Shortens the refs to documents in the text: a short ref is a third of the objects to parse. */
export const withShortRefs = (text: string): string =>
  NOT_VALUES.test(text) ? text : text.replace(DOCUMENT_REF, `{"${SHORT_REF}$2":"$1"}`);

/**
 * How the members of an object are read: as `values`; as the `members` of `@obj`, whose own keys may begin with `@`; or left in `wire`
 * form, inside functions and sets.
 */
export type Reading = 'values' | 'members' | 'wire';

/** Turns parsed wire JSON into a value, in place. */
export function revive(value: unknown, reading: Reading = 'values'): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const below = reading === 'wire' ? reading : 'values';
    for (let at = 0; at < value.length; at++) {
      if (typeof value[at] === 'object') value[at] = revive(value[at], below);
    }
    return value;
  }
  const keys = Object.keys(value);
  const [first = ''] = keys;
  const members = value as Record<string, unknown>;
  const isTag = reading !== 'members' && keys.length === 1 && first.startsWith('@');
  if (isTag && (reading === 'values' || first === LONG || first === DOUBLE)) {
    return reviveTag(members, first, reading);
  }
  const below = reading === 'wire' ? reading : 'values';
  for (const key of keys) {
    const member = members[key];
    if (typeof member === 'object') members[key] = revive(member, below);
  }
  return value;
}

/** How the value of `key` is read, in an object that is itself read as `reading`. */
export function readingUnder(key: string, reading: Reading): Reading {
  if (reading === 'wire') return 'wire';
  if (reading === 'members') return 'values';
  return key === '@obj' ? 'members' : key === '@set' || key === '@query' ? 'wire' : 'values';
}

function reviveTag(object: Record<string, unknown>, tag: string, reading: Reading): unknown {
  const text = object[tag];
  if (tag === LONG) return BigInt(text as string);
  if (tag === DOUBLE) return reading === 'wire' ? new Double(Number(text)) : Number(text);
  if (tag.startsWith(SHORT_REF))
    return new Ref(text as string, collectionRef(tag.slice(SHORT_REF.length)));
  if (!isTagName(tag)) return revive(object, 'members');
  return TAGS[tag](revive(text, readingUnder(tag, reading)));
}

/** Refs to collections, by name. Document refs share them: that means fewer objects and shorter garbage collections. */
const shared = new Map<string, Ref>();
const SHARED_MAX = 256;

function collectionRef(name: string): Ref {
  let known = shared.get(name);
  if (!known) {
    if (shared.size >= SHARED_MAX) shared.clear();
    known = new Ref(name, new Ref('collections'));
    shared.set(name, known);
  }
  return known;
}

/**
 * Converts an object whose members are already revived: to the value that it encodes if its only key is a tag; otherwise it stays as it is.
 */
export function tagged(object: Record<string, unknown>): unknown {
  const keys = Object.keys(object);
  const [tag = ''] = keys;
  return keys.length === 1 && isTagName(tag) ? TAGS[tag](object[tag]) : object;
}

const TAGS = {
  '@ref': (parts: unknown) => {
    const { id, collection, database } = parts as { id: string; collection?: Ref; database?: Ref };
    return new Ref(id, collection, database);
  },
  '@obj': (object: unknown) => object,
  '@set': (set: unknown) => new SetRef(set),
  '@ts': (text: unknown) => new FaunaTime(text as string),
  '@date': (text: unknown) => new FaunaDate(text as string),
  '@bytes': (text: unknown) => new Bytes(text as string),
  '@query': (query: unknown) => new Query(query),
  '@uuid': (text: unknown) => new Uuid(String(text)),
} as const;

const isTagName = (name: string): name is keyof typeof TAGS => Object.hasOwn(TAGS, name);
