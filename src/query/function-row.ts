/** What is known of one FQL function: its wire keys with their casts, its effect, its body. Rows are written with `define`. */
import type { Step } from '../errors.ts';
import type { Value } from '../values/value.ts';
import type { Effect } from './effect.ts';
import type { QueryPath } from './query-path.ts';
import type { ApiVersion } from './session.ts';

/** Where an argument's faults are reported: the form, the wire key, then element indexes. */
export interface ArgumentPath {
  readonly path: QueryPath;
  readonly key: string;
  readonly steps: readonly Step[];
}

/** Accepts a value or throws `QueryFailure` at the argument's place. */
export type Cast<T> = (value: Value, where: ArgumentPath) => T;

export interface Parameter<T> {
  readonly cast: Cast<T>;
  readonly optional: boolean;
  /**
   * `lambda`: must be written in place; `lambda-or-value`: a lambda in place, or an expression (`join.with`);
   * `lazy`: an expression that the body evaluates when it wants to (`select.default`).
   */
  readonly form: 'expression' | 'lambda' | 'lambda-or-value' | 'lazy';
  /** Type of the value for the builders and the reference, in the spec's words: `Integer`, `RefOrSet`, `String*`. */
  readonly type: string;
}
export type Form = Readonly<Record<string, Parameter<unknown>>>;

export interface FunctionRow {
  /** Wire key that names the form: the first of its parameters. */
  readonly name: string;
  /** `pure-reads`: declared pure in the spec's table, but reads the store when evaluated (`is_empty`). */
  readonly effect: Effect | 'pure-reads';
  /** What effect limits written into the schema are checked against. */
  readonly declared: Effect;
  readonly form: Form;
  /** First API version that has it. */
  readonly since: ApiVersion;
  /** Units of work beyond the step of a call, charged before it works: see costs.ts. */
  readonly cost: number | ((args: never, context: never) => number);
  // The argument types are known where the row is written (`define`), not where it is looked up.
  readonly call: (args: never, context: never) => Value;
}
