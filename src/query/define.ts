/**
 * One definition per FQL function: its wire keys with their casts, its declared effect, its body. The parser, the effect checker,
 * the builder types and the printed reference read the same rows.
 */
import type { Lambda, Value } from '../values/value.ts';
import type { Effect } from './effect.ts';
import type { LambdaNode } from './node.ts';
import type { QueryPath } from './query-path.ts';
import type { Form, FunctionRow, Parameter } from './function-row.ts';
import type { ApiVersion, Identities, ReadSession, ReadTime, WriteSession } from './session.ts';

/** What every body may use. */
export interface PureContext {
  readonly path: QueryPath;
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
    | 'spend'
    | 'memory'
    | 'requireIndex'
    | 'shapeOf'
  > & { readonly auth: Pick<Identities, 'hasToken'> };
  /** Applies a lambda written in place, in the scope of the form. Spec: functions 1.2, "Lambda application". */
  apply(lambda: Applicable, argument: Value): Value;
  /**
   * Runs `body` for each element. When one misses a read, the following ones run too, so that all their reads are fetched in one
   * round trip. `elements.map(body)` would take one for each: use `each` wherever `body` can read. See README.md.
   */
  each<T, R>(elements: Iterable<T>, body: (element: T, index: number) => R): R[];
  /** Folds left with a lambda of two parameters, collecting needs as `each` does. */
  fold(lambda: Applicable, initial: Value, elements: Iterable<Value>): Value;
  /** The value of a lambda written in place: closed over its scope. */
  close(lambda: Applicable): Lambda;
}
/** `elements()` of a set for rows that the spec calls pure although they read (`is_empty`, folds): see `ReadContext`. */
export interface ReadContext extends PureContext {
  readonly session: ReadSession;
  /** Applies a stored function in its session: no scope, one level deeper. Arity faults have the position of the form. */
  call(lambda: Lambda, argument: Value, session: WriteSession): Value;
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

/** A lambda written in place, closed over its scope; opaque to bodies: use `context.apply`. */
export interface Applicable {
  readonly node: LambdaNode;
  readonly scope: unknown;
}

export type Arguments<F extends Form> = {
  readonly [K in keyof F]: F[K] extends Parameter<infer T> ? T : never;
};

/** `declared` where it differs from `effect`: a `call` may do anything, but is limited by what it does. */
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
