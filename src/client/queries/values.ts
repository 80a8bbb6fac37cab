/**
 * Expressions, and the classes of the values in results. Names and shapes are those of the original driver, so code written for it works
 * unchanged; the `_isFauna…` marks allow objects of both libraries to be mixed.
 */
import { UsageError } from '../errors.ts';
import { printExpression } from './print.ts';

declare const result: unique symbol;
declare const element: unique symbol;
declare const mark: unique symbol;

/**
 * An expression where a parameter may also be an object. It has no members with names, so an editor that completes the object suggests
 * the members of the object only. Every `Expr` is one.
 */
export interface ExprLike<T = unknown> {
  readonly [result]?: T;
  readonly [mark]: true;
}

/**
 * A part of a query. `T` is the type of its result.
 * @example
 * const increased: Expr<number> = q.Add(1, 2);
 * console.log(await client.query(increased)); // 3
 */
export class Expr<T = unknown> {
  declare readonly [result]?: T;
  declare readonly [mark]: true;
  /** The wire form, which may contain other expressions; for a value, the content of its tag. */
  readonly raw: unknown;

  constructor(raw: unknown) {
    this.raw = raw;
  }

  get _isFaunaExpr(): true {
    return true;
  }

  /** The wire form. */
  toJSON(): unknown {
    return this.raw;
  }

  /** The expression as source code that uses the builders. */
  toFQL(): string {
    return printExpression(this);
  }

  toString(): string {
    // Otherwise, `hi ${name}` in a lambda would store the name of the variable instead of its value.
    if ((this.raw as { readonly var?: unknown } | null)?.var)
      throw new UsageError('A variable is not text: use q.Concat().');
    return this.toFQL();
  }
}

/** The type that an `Expr` evaluates to. */
export type ResultOf<E> = E extends Expr<infer T> ? T : never;

abstract class Value<T, Inner> extends Expr<T> {
  declare readonly raw: Inner;

  get value(): Inner {
    return this.raw;
  }

  get _isFaunaValue(): true {
    return true;
  }
}

interface RefParts {
  id: string;
  collection?: Ref;
  database?: Ref;
}

/**
 * A reference to a document or a schema object, or to a native collection such as that of all collections.
 * @example
 * const { ref } = await client.query(q.Get(q.Ref(notes, '1')));
 * console.log(ref instanceof Ref, ref.id, ref.collection?.id); // true 1 notes
 */
export class Ref extends Value<Ref, Readonly<RefParts>> {
  constructor(id: string, collection?: Ref, database?: Ref) {
    if (!id) throw new UsageError('A Ref needs an id.');
    const parts: RefParts = { id };
    if (collection) parts.collection = collection;
    if (database) parts.database = database;
    super(parts);
  }

  get _isFaunaRef(): true {
    return true;
  }
  get id(): string {
    return this.value.id;
  }
  get collection(): Ref | undefined {
    return this.value.collection;
  }
  get database(): Ref | undefined {
    return this.value.database;
  }

  equals(other: unknown): boolean {
    return isRef(other) && sameText(this, other);
  }

  override toJSON(): unknown {
    return { '@ref': this.value };
  }
}

export const isRef = (other: unknown): other is Ref =>
  typeof other === 'object' && other !== null && '_isFaunaRef' in other;

/** Refs always list their members in the same order, also those of the original driver, so equal refs have equal text. */
const sameText = (one: Ref, other: Ref): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * A set that was stored or returned: a description of the set, not its elements. `T` is the type of the elements.
 * @example
 * const set = await client.query(q.Documents(notes));
 * console.log(set instanceof SetRef, await client.query(q.Count(set))); // true 2
 */
export class SetRef<T = unknown> extends Value<SetRef<T>, unknown> {
  declare readonly [element]?: T;

  override toJSON(): unknown {
    return { '@set': this.value };
  }
}

/** @throws UsageError for a value that is neither a string nor a valid Date */
function isoText(value: string | Date): string {
  if (typeof value === 'string') return value;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  throw new UsageError(`Expected ISO 8601 text or a valid Date, but got: ${String(value)}`);
}

/**
 * An instant with nanosecond precision, as ISO 8601 text in UTC.
 * @example
 * const later = await client.query(q.TimeAdd(new FaunaTime('2026-01-01T00:00:00Z'), 1, 'hour'));
 * console.log(later.value); // 2026-01-01T01:00:00Z
 */
export class FaunaTime extends Value<FaunaTime, string> {
  constructor(value: string | Date) {
    const text = isoText(value);
    if (!text.endsWith('Z')) {
      throw new UsageError(`A FaunaTime must be in UTC and end with Z, but got: ${text}`);
    }
    super(text);
  }

  /** The instant, rounded down to the millisecond. */
  get date(): Date {
    return new Date(this.value);
  }

  override toJSON(): unknown {
    return { '@ts': this.value };
  }
}

/**
 * A day, as `YYYY-MM-DD`.
 * @example
 * const next = await client.query(q.TimeAdd(new FaunaDate('2026-01-31'), 1, 'day'));
 * console.log(next.value); // 2026-02-01
 */
export class FaunaDate extends Value<FaunaDate, string> {
  constructor(value: string | Date) {
    const text = isoText(value);
    super(typeof value === 'string' ? text : text.slice(0, 10));
  }

  /** Midnight of the day, in UTC. */
  get date(): Date {
    return new Date(this.value);
  }

  override toJSON(): unknown {
    return { '@date': this.value };
  }
}

/**
 * A sequence of bytes.
 * @example
 * const bytes = await client.query(new Bytes('aGk='));
 * console.log([...bytes.value]); // [ 104, 105 ]
 */
export class Bytes extends Value<Bytes, Uint8Array> {
  /** @param value bytes, or base64 text */
  constructor(value: Uint8Array | ArrayBuffer | string) {
    super(value instanceof Uint8Array ? value : bytesOf(value));
  }

  override toJSON(): unknown {
    return { '@bytes': toBase64(this.value) };
  }
}

/**
 * A lambda that was stored or returned.
 * @example
 * await client.query(q.CreateFunction({ name: 'twice', body: q.Query((n) => q.Multiply(n, 2)) }));
 * const body = await client.query(q.Select('body', q.Get(q.Function('twice'))));
 * console.log(body instanceof Query); // true
 */
export class Query extends Value<Query, unknown> {
  override toJSON(): unknown {
    return { '@query': this.value };
  }
}

/**
 * A UUID, in lower case.
 * @example
 * const id = new Uuid('7f3d2c1e-0000-4000-8000-000000000000');
 * console.log((await client.query(id)).value); // 7f3d2c1e-0000-4000-8000-000000000000
 */
export class Uuid extends Value<Uuid, string> {
  override toJSON(): unknown {
    return { '@uuid': this.value };
  }
}

/**
 * A number that is a Double even when it is whole: `new Double(1)` is sent as `1.0`, whereas a plain `1` is an Integer. Results contain
 * plain numbers.
 * @example
 * console.log(await client.query(q.IsDouble(new Double(1))), await client.query(q.IsDouble(1))); // true false
 */
export class Double extends Value<number, number> {
  constructor(value: number) {
    if (!Number.isFinite(value)) throw new UsageError('A Double must be a finite number.');
    super(value);
  }

  get _isFaunaDouble(): true {
    return true;
  }

  override toJSON(): unknown {
    doublesSeen.count++;
    return this.value;
  }
}

const SEEN = Symbol.for('burrow.doubles');

/**
 * Counts the `Double`s that pass through `JSON.stringify`, which cannot encode them exactly: see `encode.ts`. All copies of this package in
 * a page share the counter, because their values may be mixed.
 */
export const doublesSeen = ((globalThis as { [SEEN]?: { count: number } })[SEEN] ??= { count: 0 });

const CHUNK = 0x8000;

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let start = 0; start < bytes.length; start += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  }
  return btoa(binary);
}

function bytesOf(value: ArrayBuffer | string): Uint8Array {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  try {
    const binary = atob(value.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch (cause) {
    throw new UsageError(
      'Bytes must be created from a Uint8Array, an ArrayBuffer or a base64 string.',
      {
        cause,
      },
    );
  }
}
