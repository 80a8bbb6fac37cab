/**
 * Values as stored in rows: wire JSON, except that refs hold internal numbers, so that a renamed object renders with
 * its new name. The stored text of plain data equals its wire text. Register of tags: docs/store-format.md.
 */
import { Refusal, unreachable } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { asObject, type ObjectLike } from '../values/object-view.ts';
import { isSetOp, setOfParts } from '../values/sets.ts';
import { parseDate, parseTime } from '../values/time.ts';
import {
  Bytes,
  isArray,
  isObject,
  Ref,
  UnresolvedRef,
  Uuid,
  type DatabaseId,
  type Kinded,
  type Lambda,
  type ObjectValue,
  type SetValue,
  type Value,
} from '../values/value.ts';
import { decodeBase64 } from './base64.ts';
import { TextBuilder, type TextLimit } from './text-builder.ts';
import { parseJson, quote } from './json.ts';
import { doubleText } from './number-text.ts';
import { isEscaped, scalarText } from './wire.ts';

/**
 * Text of a value in a row. Documents, events and pages become plain objects, actions become strings. It contains no
 * pending time: the writer has put the commit time in its place.
 * @param database refs of this database are stored without their database
 * @throws Refusal `bad request` for a value that is nested deeper than `LIMITS.jsonDepth` or longer than
 * `LIMITS.documentBytes`
 */
export function storedText(value: Value, database?: DatabaseId): string {
  const out = new TextBuilder(STORED_TEXT);
  store(value, { database, out }, 0, '');
  return out.finish();
}

const STORED_TEXT: TextLimit = {
  chars: LIMITS.documentBytes,
  refuse: () => {
    const description = `Document exceeds the limit of ${LIMITS.documentBytes} bytes.`;
    throw new Refusal('bad request', description);
  },
};

interface Storing {
  readonly database: DatabaseId | undefined;
  readonly out: TextBuilder;
}

/**
 * @param depth levels of JSON around the value
 * @param before what stands between the value and the text so far: a comma, a name
 */
function store(value: Value, storing: Storing, depth: number, before: string): void {
  if (typeof value === 'string') storing.out.add(before + quote(value));
  else if (typeof value !== 'object' || value === null) storing.out.add(before + plainText(value));
  else if (isArray(value)) storeArray(value, storing, depth, before);
  else if (isObject(value)) storeObject(value, storing, depth, before);
  else {
    const plain = asObject(value);
    if (isObject(plain)) storeObject(plain, storing, depth, before);
    else storeKinded(plain, storing, depth, before);
  }
}

const plainText = (value: number | bigint | boolean | null): string =>
  typeof value === 'number' && !Number.isInteger(value) ? storedDouble(value) : String(value);

const storedDouble = (value: number): string =>
  Number.isFinite(value) ? doubleText(value) : `{"@double":"${value}"}`;

function deeper(depth: number): number {
  if (depth < LIMITS.jsonDepth) return depth + 1;
  throw new Refusal('bad request', `The data is nested deeper than ${LIMITS.jsonDepth} levels.`);
}

function storeArray(
  items: readonly Value[],
  storing: Storing,
  depth: number,
  before: string,
): void {
  const inside = deeper(depth);
  let start = `${before}[`;
  for (const item of items) {
    store(item, storing, inside, start);
    start = ',';
  }
  storing.out.add(items.length === 0 ? `${start}]` : ']');
}

function storeObject(object: ObjectValue, storing: Storing, depth: number, before: string): void {
  if (!isEscaped(object)) return storeMembers(object, storing, deeper(depth), before);
  storeMembers(object, storing, deeper(deeper(depth)), `${before}{"@obj":`);
  storing.out.add('}');
}

function storeMembers(object: ObjectValue, storing: Storing, depth: number, before: string): void {
  let start = `${before}{`;
  for (const [key, value] of object) {
    store(value, storing, depth, `${start}${quote(key)}:`);
    start = ',';
  }
  storing.out.add(object.size === 0 ? `${start}}` : '}');
}

type Plain = Exclude<Kinded, ObjectLike>;

function storeKinded(value: Plain, storing: Storing, depth: number, before: string): void {
  if (value.kind !== 'set') return storing.out.add(before + kindedText(value, storing));
  storeMembers(storedParts(value), storing, deeper(deeper(depth)), `${before}{"@set":`);
  storing.out.add('}');
}

function kindedText(value: Exclude<Plain, SetValue>, { database }: Storing): string {
  switch (value.kind) {
    case 'double':
      return storedDouble(value.value);
    case 'bytes':
    case 'time':
    case 'date':
    case 'uuid':
      return scalarText(value);
    case 'ref':
      return storedRef(value, database);
    case 'unresolved':
      return `{"@ref":{"what":${quote(value.what)},"name":${quote(value.name)},"wire":${quote(value.wire)}}}`;
    case 'lambda':
      return `{"@query":{"v":${quote(value.apiVersion)},"w":${quote(value.wire)}}}`;
    case 'action':
      return quote(value.name);
    case 'pending':
      throw new Error('A pending time cannot be stored: the commit time is stored in its place.');
    default:
      return unreachable(value);
  }
}

/** `op`, then the parts under their names in `SetValue`. */
function storedParts(set: SetValue): ObjectValue {
  const { kind: _, ...parts } = set;
  return new Map<string, Value>(Object.entries(parts));
}

const storedRef = (ref: Ref, database: DatabaseId | undefined): string =>
  ref.database === database
    ? `{"@ref":{"c":${ref.collection},"i":"${ref.id}"}}`
    : `{"@ref":{"c":${ref.collection},"i":"${ref.id}","d":${ref.database}}}`;

/**
 * Whether the text of stored members differs from their wire text, because it contains something that renders by name
 * or has no JSON form.
 */
export const storedNeedsNames = (text: string): boolean =>
  text.includes('"@') && DIFFERS.test(text);

const DIFFERS = /"@(?:ref|set|query|double)"/;

export interface StoredHooks {
  /** Makes a lambda from its wire text. */
  lambda(wire: string, apiVersion: string): Lambda;
  readonly database: DatabaseId;
}

// Room for tags at the deepest level, and for the levels that a row adds around its members.
const PARSED_DEPTH = LIMITS.jsonDepth + 8;

/**
 * Inverse of `storedText`.
 * @throws JsonError; Refusal `local_data_loss` for a tag or content that `storedText` never writes
 */
export function parseStored(text: string, hooks: StoredHooks): Value {
  const json = parseJson(text, PARSED_DEPTH);
  return text.includes('"@') ? revive(json, hooks) : json;
}

function revive(json: Value, hooks: StoredHooks): Value {
  if (isArray(json)) return json.map((item) => revive(item, hooks));
  if (!isObject(json)) return json;
  const [tag] = json.keys();
  if (json.size === 1 && tag !== undefined && tag.startsWith('@')) {
    return reviveEscape(tag, json.get(tag) ?? null, hooks);
  }
  return reviveMembers(json, hooks);
}

function reviveMembers(object: ObjectValue, hooks: StoredHooks): ObjectValue {
  const members = new Map<string, Value>();
  for (const [key, value] of object) members.set(key, revive(value, hooks));
  return members;
}

function reviveEscape(tag: string, inside: Value, hooks: StoredHooks): Value {
  const revived = isObject(inside)
    ? reviveTagged(tag, inside, hooks)
    : typeof inside === 'string'
      ? reviveText(tag, inside)
      : undefined;
  return revived ?? damaged(tag);
}

function damaged(tag: string): never {
  throw new Refusal('local_data_loss', `A stored document is corrupt: invalid ${tag}.`);
}

const WITHOUT_JSON = new Map(
  [Number.NaN, Infinity, -Infinity].map((value) => [String(value), value] as const),
);
const INTEGER = /^-?\d{1,19}$/;

function reviveText(tag: string, text: string): Value | undefined {
  switch (tag) {
    case '@ts':
      return parseTime(text);
    case '@date':
      return parseDate(text);
    case '@bytes': {
      const bytes = decodeBase64(text);
      return bytes && new Bytes(bytes);
    }
    case '@uuid':
      return new Uuid(text);
    case '@double':
      return WITHOUT_JSON.get(text);
    default:
      return undefined;
  }
}

function reviveTagged(tag: string, inside: ObjectValue, hooks: StoredHooks): Value | undefined {
  switch (tag) {
    case '@obj':
      return reviveMembers(inside, hooks);
    case '@ref':
      return reviveRef(inside, hooks);
    case '@set':
      return reviveSet(reviveMembers(inside, hooks));
    case '@query': {
      const { v, w } = Object.fromEntries(inside);
      return typeof v === 'string' && typeof w === 'string' ? hooks.lambda(w, v) : undefined;
    }
    default:
      return undefined;
  }
}

function reviveSet(parts: ObjectValue): SetValue | undefined {
  const op = parts.get('op');
  const set = isSetOp(op) ? setOfParts(op, (name) => parts.get(name)) : undefined;
  return set?.op === 'documents' && parts.get('native') === true ? { ...set, native: true } : set;
}

function reviveRef(inside: ObjectValue, hooks: StoredHooks): Value | undefined {
  const { c, i, d = hooks.database, what, name, wire } = Object.fromEntries(inside);
  if (typeof c === 'number' && typeof i === 'string' && typeof d === 'number') {
    return INTEGER.test(i) ? new Ref(d, c, BigInt(i)) : undefined;
  }
  if (typeof what !== 'string' || typeof name !== 'string' || typeof wire !== 'string') {
    return undefined;
  }
  // The encoder writes no other kinds.
  return new UnresolvedRef(what as UnresolvedRef['what'], name, wire);
}
