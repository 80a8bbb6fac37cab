/** Values of the reference model, with an order and equality of its own: slow and simple. */
import { PartObject, Raw, type Part } from '../query-text.ts';

export class Dbl {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export class DocRef {
  readonly collection: string;
  readonly id: bigint;
  constructor(collection: string, id: bigint) {
    this.collection = collection;
    this.id = id;
  }
}

/** A time in whole seconds. */
export class Moment {
  readonly micros: number;
  constructor(micros: number) {
    this.micros = micros;
  }
}

export interface Fields {
  readonly data: Members | undefined;
  /** When the document expires. */
  readonly ttl: Moment | undefined;
}

export class Doc {
  readonly ref: DocRef;
  readonly ts: number;
  readonly fields: Fields;
  constructor(ref: DocRef, ts: number, fields: Fields) {
    this.ref = ref;
    this.ts = ts;
    this.fields = fields;
  }
}

export class Page {
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly data: readonly Value[];
  constructor(before: Value | undefined, after: Value | undefined, data: readonly Value[]) {
    this.before = before;
    this.after = after;
    this.data = data;
  }
}

/** Covered values and the ref of a document. */
export interface Tuple {
  readonly values: readonly Value[] | undefined;
  readonly ref: DocRef;
}

/** The addition of a tuple to a set, or its removal. */
export interface Change {
  readonly ts: number;
  readonly action: 'add' | 'remove';
  readonly tuple: Tuple;
}

/** A set: its tuples at each time, in order. */
export class SetOf {
  /** Directions of the covered values, then of the ref. Empty: not known (a join by a lambda). */
  readonly flags: readonly boolean[];
  readonly isTurned: boolean;
  readonly tuplesAt: (time: number) => readonly Tuple[];
  /** The changes, unordered. Undefined: the set has no history. */
  readonly changes: (() => readonly Change[]) | undefined;
  constructor(
    flags: readonly boolean[],
    isTurned: boolean,
    tuplesAt: (time: number) => readonly Tuple[],
    changes?: () => readonly Change[],
  ) {
    this.flags = flags;
    this.isTurned = isTurned;
    this.tuplesAt = tuplesAt;
    this.changes = changes;
  }
}

export type Members = ReadonlyMap<string, Value>;
export type Value =
  | null
  | boolean
  | string
  | bigint
  | Dbl
  | Moment
  | DocRef
  | Doc
  | Page
  | SetOf
  | readonly Value[]
  | Members;

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);
export const isMembers = (value: Value): value is Members => value instanceof Map;

/** Thrown for queries that the model does not cover. They are not compared. */
export class Silent extends Error {}

/** The value of a literal that contains no forms. Texts are converted as UTF-8 does. */
export function scalarOf(part: Part): Value {
  if (part instanceof Raw) {
    return /[.eE]/.test(part.text) ? new Dbl(Number(part.text)) : BigInt(part.text);
  }
  if (typeof part === 'number') return BigInt(part);
  if (typeof part === 'string') return wellFormed(part);
  if (part === null || typeof part === 'boolean') return part;
  throw new Silent(part instanceof PartObject ? 'an object' : 'an array');
}

export const wellFormed = (text: string): string =>
  Array.from(text, (char) => (/^[\ud800-\udfff]$/.test(char) ? '?' : char)).join('');

const rank = (value: Value): number => {
  if (typeof value === 'bigint' || value instanceof Dbl) return 0;
  if (typeof value === 'string') return 1;
  if (isList(value)) return 2;
  if (isMembers(value)) return 3;
  if (value instanceof DocRef) return 4;
  if (value === false) return 5;
  if (value === true) return 6;
  if (value === null) return 7;
  throw new Silent('no place in the order');
};

/** Collections in the order of their creation. */
export const COLLECTIONS: readonly string[] = ['c', 'd'];

export function compare(a: Value, b: Value): number {
  const difference = rank(a) - rank(b);
  if (difference !== 0) return difference;
  if (typeof a === 'string') return compareLists(codePoints(a), codePoints(b as string));
  if (isList(a)) return compareLists(a, b as readonly Value[]);
  if (isMembers(a)) return compareLists(sortedPairs(a), sortedPairs(b as Members));
  if (a instanceof DocRef) return compareRefs(a, b as DocRef);
  if (typeof a === 'bigint' || a instanceof Dbl) return compareNumbers(a, b as bigint | Dbl);
  return 0;
}

const codePoints = (text: string): Value[] =>
  Array.from(text, (char) => BigInt(char.codePointAt(0) ?? 0));

const sortedPairs = (members: Members): Value[] =>
  [...members].sort(([a], [b]) => (a < b ? -1 : 1)).flat();

function compareLists(a: readonly Value[], b: readonly Value[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const difference = compare(a[i] ?? null, b[i] ?? null);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export const compareRefs = (a: DocRef, b: DocRef): number =>
  Number(a.id - b.id) || COLLECTIONS.indexOf(a.collection) - COLLECTIONS.indexOf(b.collection);

function compareNumbers(a: bigint | Dbl, b: bigint | Dbl): number {
  const [x, y] = [a instanceof Dbl ? a.value : a, b instanceof Dbl ? b.value : b];
  if (x < y) return -1;
  if (x > y) return 1;
  return (Object.is(x, -0) ? -1 : 0) - (Object.is(y, -0) ? -1 : 0);
}

/** Equality of the operands of `equals`: 1 equals 1.0, but 0 does not equal -0.0. Inside arrays and objects it is the other way round. */
export function equal(a: Value, b: Value, isInside = false): boolean {
  if ([a, b].some((each) => each instanceof Moment)) throw new Silent('equality of times');
  if ([a, b].some((each) => each instanceof Doc || each instanceof Page || each instanceof SetOf)) {
    throw new Silent('equality of documents, pages and sets');
  }
  const [isIntA, isIntB] = [typeof a === 'bigint', typeof b === 'bigint'];
  const areNumbers = (isIntA || a instanceof Dbl) && (isIntB || b instanceof Dbl);
  if (areNumbers && isInside) {
    return a instanceof Dbl && b instanceof Dbl ? a.value === b.value : a === b;
  }
  if (areNumbers && !(isIntA && isIntB)) {
    return Object.is(
      a instanceof Dbl ? a.value : Number(a),
      b instanceof Dbl ? b.value : Number(b),
    );
  }
  if (isList(a))
    return (
      isList(b) && a.length === b.length && a.every((each, i) => equal(each, b[i] ?? null, true))
    );
  if (isMembers(a)) {
    return (
      isMembers(b) &&
      a.size === b.size &&
      [...a].every(([key, each]) => b.has(key) && equal(each, b.get(key) ?? null, true))
    );
  }
  if (a instanceof DocRef) return b instanceof DocRef && compareRefs(a, b) === 0;
  return a === b;
}

/** The wire text of a value. */
export function render(value: Value): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Dbl) return doubleText(value.value);
  if (isList(value)) return `[${value.map(render).join(',')}]`;
  if (value instanceof DocRef) return renderRef(value);
  if (value instanceof Moment) return `{"@ts":"${timeText(value.micros)}"}`;
  if (value instanceof Doc) {
    const { data, ttl } = value.fields;
    const members = [data && `,"data":${render(data)}`, ttl && `,"ttl":${render(ttl)}`];
    return `{"ref":${renderRef(value.ref)},"ts":${value.ts}${members.join('')}}`;
  }
  if (value instanceof Page) {
    const side = (name: string, cursor: Value | undefined) =>
      cursor === undefined ? '' : `"${name}":${render(cursor)},`;
    return `{${side('before', value.before)}${side('after', value.after)}"data":${render(value.data)}}`;
  }
  if (value instanceof SetOf) throw new Silent('a set as result');
  const text = [...value].map(([key, each]) => `${JSON.stringify(key)}:${render(each)}`);
  const object = `{${text.join(',')}}`;
  return [...value.keys()].some((key) => key.startsWith('@')) ? `{"@obj":${object}}` : object;
}

export const timeText = (micros: number): string =>
  new Date(micros / 1000).toISOString().replace('.000', '');

function doubleText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  if (!Number.isFinite(value)) return `"${value}"`;
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

const renderRef = ({ collection, id }: DocRef): string =>
  `{"@ref":{"id":"${id}","collection":{"@ref":{"id":"${collection}","collection":{"@ref":{"id":"collections"}}}}}}`;

/** Removes nulls at all depths. */
export function cleaned(value: Value): Value {
  if (isList(value)) return value.filter((each) => each !== null).map(cleaned);
  if (!isMembers(value)) return value;
  return new Map(
    [...value].filter(([, each]) => each !== null).map(([key, each]) => [key, cleaned(each)]),
  );
}

export function patched(old: Members, change: Members): Members {
  const result = new Map(old);
  for (const [key, each] of change) {
    const before = old.get(key);
    if (each === null) result.delete(key);
    else if (isMembers(each) && before !== undefined && isMembers(before))
      result.set(key, patched(before, each));
    else result.set(key, cleaned(each));
  }
  return result;
}
