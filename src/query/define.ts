/**
 * One definition per FQL function: its wire keys with their casts, its declared effect, its body. The parser, the effect checker,
 * the builder types and the printed reference read the same rows.
 */
import type { Step } from '../errors.ts';
import type { Lambda, Value } from '../values/value.ts';
import type { Effect, LambdaNode, Where } from './node.ts';
import type { ApiVersion, ReadSession, ReadTime, WriteSession } from './session.ts';

/** What every body may use. */
export interface PureContext {
  readonly place: Where;
  readonly apiVersion: ApiVersion;
  /** What reads see: the present, or the time of an enclosing `at`. */
  readonly time: ReadTime;
  /** `Now()`, names and set shapes are part of every query's constants; reading through it is for rows declared `read` or `write`. */
  readonly session: Pick<
    ReadSession,
    | 'snapshot'
    | 'pendingTs'
    | 'apiVersion'
    | 'names'
    | 'self'
    | 'charge'
    | 'memory'
    | 'requireIndex'
    | 'shapeOf'
    | 'hasToken'
  >;
  /** Applies a lambda written in place, in the scope of the form. Spec: functions 1.2, "Lambda application". */
  apply(lambda: Applicable, argument: Value): Value;
  /** Runs `body` for each element, gathering what all of them need before suspending. */
  each<T, R>(elements: Iterable<T>, body: (element: T, index: number) => R): R[];
  /** Folds left with a lambda of two, gathering likewise. */
  fold(lambda: Applicable, initial: Value, elements: Iterable<Value>): Value;
  /** The value of a lambda written in place: closed over its scope. */
  close(lambda: Applicable): Lambda;
}
/** `elements()` of a set for rows that the spec calls pure although they read (`is_empty`, folds): see `ReadContext`. */
export interface ReadContext extends PureContext {
  readonly session: ReadSession;
  /** Applies a stored function: no scope, one level deeper. Arity faults stand at the form. */
  call(lambda: Lambda, argument: Value): Value;
}
export interface WriteContext extends ReadContext {
  readonly session: WriteSession;
}
export interface Contexts {
  readonly pure: PureContext;
  /** Declared pure in the spec's table, but reads the store when evaluated (`is_empty`). */
  readonly 'pure-reads': ReadContext;
  readonly read: ReadContext;
  readonly write: WriteContext;
}

/** A lambda written in place, closed over the scope it stands in; opaque to bodies: use `context.apply`. */
export interface Applicable {
  readonly node: LambdaNode;
  readonly scope: unknown;
}

/** Where an argument's faults are reported: the form, the wire key, then element indexes. */
export interface ArgumentPlace {
  readonly place: Where;
  readonly key: string;
  readonly steps: readonly Step[];
}

/** Accepts a value or throws `QueryFailure` at the argument's place. */
export type Cast<T> = (value: Value, where: ArgumentPlace) => T;

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
export type Arguments<F extends Form> = {
  readonly [K in keyof F]: F[K] extends Parameter<infer T> ? T : never;
};

export interface FunctionRow {
  /** Wire key that names the form: the first of its parameters. */
  readonly name: string;
  readonly effect: keyof Contexts;
  /** What effect limits written into the schema are checked against. */
  readonly declared: Effect;
  readonly form: Form;
  /** First API version that has it. */
  readonly since: ApiVersion;
  // The argument types are known where the row is written (`define`), not where it is looked up.
  readonly call: (args: never, context: never) => Value;
}

/** `declared` where it differs from `effect`: a `call` may do anything, but is limited by what it does. */
export const define = <E extends keyof Contexts, F extends Form>(
  effect: E,
  form: F,
  call: (args: Arguments<F>, context: Contexts[E]) => Value,
  more: { readonly since?: ApiVersion; readonly declared?: Effect } = {},
): FunctionRow => ({
  name: Object.keys(form)[0] ?? '',
  effect,
  declared: more.declared ?? (effect === 'pure-reads' ? 'pure' : effect),
  form,
  call,
  since: more.since ?? '2.0',
});
