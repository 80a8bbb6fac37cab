/**
 * One definition per FQL function: its wire keys with their casts, its declared effect, and its body. The parser, the
 * effect checker, the builder types and the printed reference use the same rows.
 */
import type { Lambda, Value } from '../values/value.ts';
import type { Effect } from './effect.ts';
import type { LambdaNode } from './node.ts';
import type { QueryPath } from './query-path.ts';
import type { Form, FunctionRow, Parameter } from './function-row.ts';
import type { ApiVersion, Identities, ReadSession, ReadTime, WriteSession } from './session.ts';

/** What every function body may use. */
export interface PureContext {
  readonly path: QueryPath;
  readonly apiVersion: ApiVersion;
  /** The time that reads see: the present, or the time of an enclosing `at`. */
  readonly time: ReadTime;
  /**
   * The parts of the session that pure functions may use: `Now()`, names and set shapes are constant within a query.
   * Reads through `session` require a row with the effect `read` or `write`.
   */
  readonly session: Pick<
    ReadSession,
    | 'snapshot'
    | 'pendingTs'
    | 'apiVersion'
    | 'names'
    | 'self'
    | 'charge'
    | 'spend'
    | 'memory'
    | 'requireIndex'
    | 'shapeOf'
  > & { readonly auth: Pick<Identities, 'hasToken'> };
  /** Applies a lambda written in place, in the scope of the form. Spec: functions 1.2, "Lambda application". */
  apply(lambda: Applicable, argument: Value): Value;
  /**
   * Runs `body` for each element. If one element needs a read, the following ones run too, so that all their reads are
   * fetched in one round trip. `elements.map(body)` would take a round trip for each: use `each` wherever `body` can
   * read. See README.md.
   */
  each<T, R>(elements: Iterable<T>, body: (element: T, index: number) => R): R[];
  /** Left fold with a lambda of two parameters. Collects needs like `each`. */
  fold(lambda: Applicable, initial: Value, elements: Iterable<Value>): Value;
  /** Makes a value of a lambda written in place, as a closure over its scope. */
  close(lambda: Applicable): Lambda;
}
/** The context of functions that read. Some of them are pure according to the spec although they read (`is_empty`). */
export interface ReadContext extends PureContext {
  readonly session: ReadSession;
  /**
   * Applies a stored function in its session, outside any scope and one call level deeper. A wrong number of arguments
   * is reported at the form.
   */
  call(lambda: Lambda, argument: Value, session: WriteSession): Value;
}
export interface WriteContext extends ReadContext {
  readonly session: WriteSession;
}
export interface Contexts {
  readonly pure: PureContext;
  /** Pure according to the spec's table, but reads the store when evaluated (`is_empty`). */
  readonly 'pure-reads': ReadContext;
  readonly read: ReadContext;
  readonly write: WriteContext;
}

/** A lambda written in place with its scope. Function bodies do not look inside: they use `context.apply`. */
export interface Applicable {
  readonly node: LambdaNode;
  readonly scope: unknown;
}

export type Arguments<F extends Form> = {
  readonly [K in keyof F]: F[K] extends Parameter<infer T> ? T : never;
};

/**
 * Makes a row. `declared` is given where it differs from `effect`: `call` is declared as `write` because the called
 * function may do anything, but at evaluation only what the function does is checked.
 */
export const define = <E extends keyof Contexts, F extends Form>(
  effect: E,
  form: F,
  cost: number | ((args: Arguments<F>, context: Contexts[E]) => number),
  call: (args: Arguments<F>, context: Contexts[E]) => Value,
  more: { readonly since?: ApiVersion; readonly declared?: Effect } = {},
): FunctionRow => ({
  name: Object.keys(form)[0] ?? '',
  effect,
  declared: more.declared ?? (effect === 'pure-reads' ? 'pure' : effect),
  form,
  cost,
  call,
  since: more.since ?? '2.0',
});
