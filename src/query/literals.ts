/** Escapes (`@ts`, `@ref` …) and quoted data. Spec: values 2 to 7. */
import { decodeBase64 } from '../codec/base64.ts';
import type { Json, JsonObject } from '../codec/json.ts';
import { parseDate, parseTime } from '../values/time.ts';
import { Bytes, Double, isArray, isObject, Uuid } from '../values/value.ts';
import type { Lambda, Value } from '../values/value.ts';
import { readRef } from './literal-refs.ts';
import { readSet } from './literal-sets.ts';
import { Deferred, invalid, settle, type Literal, type LiteralReader } from './literal.ts';
import { at, type QueryPath } from './query-path.ts';

type Read = (json: Json, path: QueryPath, reader: LiteralReader) => Literal;

const fromText =
  (what: string, parse: (text: string) => Value | undefined): Read =>
  (json, path) => {
    const value = typeof json === 'string' ? parse(json) : undefined;
    return value ?? invalid(path, `Invalid ${what}.`);
  };

const parseBytes = (text: string): Bytes | undefined => {
  const bytes = decodeBase64(text);
  return bytes && new Bytes(bytes);
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const parseUuid = (text: string): Uuid | undefined =>
  UUID.test(text) ? new Uuid(text.toLowerCase()) : undefined;

const ESCAPES: ReadonlyMap<string, Read> = new Map<string, Read>([
  ['@ts', fromText('time', parseTime)],
  ['@date', fromText('date', parseDate)],
  ['@bytes', fromText('bytes', parseBytes)],
  ['@uuid', fromText('UUID', parseUuid)],
  ['@ref', readRef],
  ['@set', readSet],
  [
    '@query',
    (json, path, reader) =>
      isObject(json) ? reader.lambda(json, path) : invalid(path, 'Invalid lambda.'),
  ],
]);

/** The tag of an object that is an escape, that is, its only key. `@obj` does not count as a tag. */
export function escapeTag(json: JsonObject): string | undefined {
  if (json.size !== 1) return undefined;
  const [tag] = json.keys();
  return tag !== undefined && ESCAPES.has(tag) ? tag : undefined;
}

/** Decodes the escape `tag` of `json`. Positions of faults do not include the tag. */
export function readEscape(
  tag: string,
  json: JsonObject,
  path: QueryPath,
  reader: LiteralReader,
): Literal {
  const read = ESCAPES.get(tag);
  return read ? read(json.get(tag) ?? null, path, reader) : invalid(path, `Invalid ${tag}.`);
}

/** Reads the literals of one query or stored lambda. `lambda` reads the lambdas among them. */
export class Literals implements LiteralReader {
  readonly lambda: (json: JsonObject, queryPath: QueryPath) => Lambda;
  constructor(lambda: (json: JsonObject, path: QueryPath) => Lambda) {
    this.lambda = lambda;
  }

  data(json: Json, path: QueryPath): Literal {
    if (typeof json !== 'object' || json === null || json instanceof Double) return json;
    if (isArray(json)) return this.array(json, path);
    const tag = escapeTag(json);
    if (tag !== undefined) return readEscape(tag, json, path, this);
    const inner = json.size === 1 ? json.get('@obj') : undefined;
    if (inner === undefined) return this.members(json, path);
    return isObject(inner)
      ? this.members(inner, at(path, '@obj'))
      : invalid(path, 'Invalid object.');
  }

  private array(json: readonly Json[], path: QueryPath): Literal {
    const items = json.map((item, index) => this.data(item, at(path, index)));
    return items.some((item) => item instanceof Deferred)
      ? new Deferred((session) => items.map((item) => settle(item, session)))
      : (items as readonly Value[]);
  }

  private members(json: JsonObject, path: QueryPath): Literal {
    const members: (readonly [string, Literal])[] = [];
    for (const [key, member] of json) members.push([key, this.data(member, at(path, key))]);
    return members.some(([, member]) => member instanceof Deferred)
      ? new Deferred(
          (session) => new Map(members.map(([key, member]) => [key, settle(member, session)])),
        )
      : new Map(members as readonly (readonly [string, Value])[]);
  }
}
