import { BUILDER_ROWS, type BuilderRow } from './builder-table.ts';
import { UsageError } from '../errors.ts';
import { put } from './decode.ts';
import { withinDepth } from './encode.ts';
import { isExpr } from './is-expr.ts';
import { isPlain } from './is-plain.ts';
import { parameterNames } from './parameter-names.ts';
import type { Builders } from './types/builders.ts';
import { Bytes, Expr } from './values.ts';

type Build = (...args: readonly unknown[]) => Expr;

/**
 * All builders of the original driver, with the same names, argument order and wire JSON.
 * @example
 * console.log(await client.query(q.Add(1, 2))); // 3
 * console.log(await client.query(q.Map([1, 2], (n) => q.Multiply(n, 10)))); // [ 10, 20 ]
 */
export const q: Builders = Object.fromEntries([
  ...BUILDER_ROWS.map((row) => [row.name, builderOf(row)]),
  ...Object.entries(specialBuilders()).map(([name, { min, max, build }]) => [
    name,
    (...args: readonly unknown[]) => {
      checkArity(name, min, max, args);
      return refusing(() => build(...args));
    },
  ]),
]);

/**
 * Converts an argument to its form in a query: plain objects become `{object: …}`, functions become lambdas.
 * @throws UsageError for a value that FQL does not have, with the path to it
 */
export const wrap = (value: unknown): unknown => refusing(() => wrapped(value));

function refusing<T>(make: () => T): T {
  try {
    return withinDepth(make);
  } catch (cause) {
    throw cause instanceof NoValue ? cause.asUsageError() : cause;
  }
}

function wrapped(value: unknown): unknown {
  switch (typeof value) {
    case 'symbol':
      return value.description;
    case 'function':
      return lambdaOf(value as Build);
    case 'number':
      if (Number.isFinite(value)) return value;
      throw new NoValue(value, 'FQL has no representation for it');
    case 'bigint':
      if (BigInt.asIntN(64, value) === value) return value;
      throw new NoValue(value, 'it does not fit into an Integer of 64 bits');
    case 'object':
      return value === null ? null : wrapObject(value);
    default:
      return value;
  }
}

function wrapObject(value: object): unknown {
  if (isExpr(value)) return value;
  if (Array.isArray(value)) return value.map((each, at) => within(at, each));
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return new Bytes(value);
  return new Expr({ object: wrapMembers(value) });
}

/** @throws NoValue for an object that is not plain: whatever is not among its own members would be lost */
function wrapMembers(members: unknown): Record<string, unknown> {
  const given = Object(members) as object;
  if (!isPlain(given)) throw noObject(given);
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) put(made, key, within(key, value));
  return made;
}

function noObject(value: object): NoValue {
  const [kind, remedy] =
    value instanceof Date
      ? ['Date', 'use q.Time(date.toISOString()) or new FaunaTime(date)']
      : [value.constructor?.name, 'use a plain object, an array or a value of FQL'];
  return new NoValue(`the ${kind}`, remedy);
}

function within(key: string | number, value: unknown): unknown {
  try {
    return wrapped(value);
  } catch (reason) {
    if (reason instanceof NoValue) reason.path.unshift(key);
    throw reason;
  }
}

/** Thrown where an invalid value is found. The path to the value is collected while the error propagates. */
class NoValue extends Error {
  readonly path: (string | number)[] = [];
  private readonly what: string | number | bigint;

  /** @param remedy why the value is invalid, or what to use instead */
  constructor(what: string | number | bigint, remedy: string) {
    super(remedy);
    this.what = what;
  }

  asUsageError(): UsageError {
    const { path, what, message } = this;
    const place = path.length > 0 ? ` at ${path.join('.')}` : '';
    return new UsageError(`Cannot encode ${what}${place}: ${message}.`);
  }
}

function builderOf(row: BuilderRow): Build {
  return (...args) => {
    checkArity(row.name, row.min, row.max, args);
    if (row.swapped) args = [args[1], args[0]];
    const form: Record<string, unknown> = {};
    row.keys.forEach(({ key, mark }, at) => {
      if (mark === '*') {
        const rest = args.slice(at);
        form[key] = wrap(rest.length === 1 ? rest[0] : rest);
        return;
      }
      const value = wrap(mark === '!' || mark === '-' ? (args[at] ?? null) : args[at]);
      if (value === undefined || (mark === '?' && value === null)) return;
      form[key] = value;
    });
    return new Expr(form);
  };
}

function checkArity(name: string, min: number, max: number, args: readonly unknown[]): void {
  const count = args.length;
  if (count < min || count > max) {
    const wanted =
      max === min ? min : max === Infinity ? `at least ${min}` : `from ${min} to ${max}`;
    throw new UsageError(`q.${name} takes ${wanted} argument(s), but got ${count}.`);
  }
  const missing = args.slice(0, min).indexOf(undefined);
  if (missing >= 0) {
    throw new UsageError(`q.${name}: argument ${missing + 1} is required, but is undefined.`);
  }
}

interface SpecialBuilder {
  readonly min: number;
  readonly max: number;
  readonly build: Build;
}

/** The builders that inspect their arguments. */
function specialBuilders(): Readonly<Record<string, SpecialBuilder>> {
  return {
    Ref: {
      min: 1,
      max: 2,
      build: (...args) => {
        const [ref, id] = args.map(wrap);
        if (args.length === 1) return new Expr({ '@ref': ref });
        checkArity('Ref', 2, 2, args);
        return new Expr({ ref, id });
      },
    },
    Bytes: { min: 1, max: 1, build: (bytes) => new Bytes(bytes as Uint8Array | string) },
    Do: { min: 1, max: Infinity, build: (...args) => new Expr({ do: wrap(args) }) },
    Object: { min: 1, max: 1, build: (members) => new Expr({ object: wrapMembers(members) }) },
    Lambda: { min: 1, max: 2, build: buildLambda },
    Let: { min: 2, max: 2, build: buildLet },
    Paginate: { min: 1, max: 2, build: buildPaginate },
  };
}

const variable = (name: string): Expr => new Expr({ var: name });

function buildLambda(...args: readonly unknown[]): Expr {
  const [first, body] = args;
  if (args.length === 2) return new Expr({ lambda: wrap(first), expr: wrap(body) });
  if (typeof first === 'function') return lambdaOf(first as Build);
  if (isExpr(first)) return first as Expr;
  throw new UsageError('q.Lambda expects a function, a lambda, or parameter names and a body.');
}

function lambdaOf(body: Build): Expr {
  const names = parameterNames(body);
  if (!names) throw new NoValue('a function', 'it must have parameters, all of them plain names');
  return new Expr({
    lambda: names.length === 1 ? names[0] : names,
    expr: bodyOf(body, names),
  });
}

/** Calls a function with variables of these names. A missing result is an error: the query would mean something else. */
function bodyOf(make: Build, names: readonly string[]): unknown {
  const body = wrap(make(...names.map(variable)));
  if (body !== undefined) return body;
  throw new NoValue('a function', 'it must return an expression');
}

function buildLet(bindings: unknown, body: unknown): Expr {
  const each = Array.isArray(bindings)
    ? bindings.map(wrapMembers)
    : Object.entries(wrapMembers(bindings))
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => ({ [name]: value }));
  const names = [bindings ?? {}].flat().flatMap(Object.keys);
  return new Expr({
    let: each,
    in: wrap(typeof body === 'function' ? bodyOf(body as Build, names) : body),
  });
}

function buildPaginate(set: unknown, options: unknown = {}): Expr {
  const literal = typeof options === 'object' && !Array.isArray(options);
  if (!literal || isExpr(options)) {
    throw new UsageError(
      'The options of q.Paginate must be an object literal, such as { size: q.Var("n") }.',
    );
  }
  return new Expr({ paginate: wrap(set), ...wrapMembers(options) });
}
