/**
 * The description of one FQL function: its wire keys with their casts, its effect and its body. Rows are made with
 * `define`.
 */
import type { Step } from '../errors.ts';
import type { Value } from '../values/value.ts';
import type { Effect } from './effect.ts';
import type { QueryPath } from './query-path.ts';
import type { ApiVersion } from './session.ts';

/** The position of an argument's faults: the form, the wire key, then element indexes. */
export interface ArgumentPath {
  readonly path: QueryPath;
  readonly key: string;
  readonly steps: readonly Step[];
}

/** Accepts a value, or throws `QueryFailure` at the position of the argument. */
export type Cast<T> = (value: Value, where: ArgumentPath) => T;

export interface Parameter<T> {
  readonly cast: Cast<T>;
  readonly optional: boolean;
  /**
   * `lambda`: a lambda, written in place. `lambda-or-value`: a lambda written in place, or an expression (`join.with`).
   * `lazy`: an expression that the function body evaluates only if it needs the value (`select.default`).
   */
  readonly form: 'expression' | 'lambda' | 'lambda-or-value' | 'lazy';
  /** Type of the value for the builders and the reference, in the words of the spec: `Integer`, `RefOrSet`, `String*`. */
  readonly type: string;
}
export type Form = Readonly<Record<string, Parameter<unknown>>>;

export interface FunctionRow {
  /** The wire key that names the form: the first of its parameters. */
  readonly name: string;
  /** `pure-reads`: pure according to the spec's table, but reads the store when evaluated (`is_empty`). */
  readonly effect: Effect | 'pure-reads';
  /** The effect that is compared with the limits of schema definitions, before evaluation. */
  readonly declared: Effect;
  readonly form: Form;
  /** The first API version that has the function. */
  readonly since: ApiVersion;
  /** Units of work beyond the step of a call, charged before the body runs. See costs.ts. */
  readonly cost: number | ((args: never, context: never) => number);
  // The argument types are known where a row is defined (`define`), but not where it is looked up.
  readonly call: (args: never, context: never) => Value;
}
