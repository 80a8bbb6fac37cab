/** Types of the arguments of a query, and of what they evaluate to. */
import type { TimeUnit } from '../../../values/time-units.ts';
import type { Bytes, Expr, ExprLike, Query, Ref } from '../values.ts';

/** Any object except a `Date`, which has no wire form: use `q.Time(date.toISOString())`. */
export type Plain = Literal | (object & NoDate);
type Literal = NoDate & { readonly [member: string]: unknown };
/** A `Date` has a method of this name, and editors do not suggest members whose name is a symbol. The text is part of the error. */
interface NoDate {
  readonly [Symbol.toPrimitive]?: 'A Date has no wire form: use q.Time(date.toISOString())';
}

/** What may be passed where a query expects an expression; functions become lambdas. */
export type Arg = ExprLike | string | number | bigint | boolean | null | symbol | Plain;

/** A unit of time, in the singular or the plural, or an expression for one. */
export type Unit = TimeUnit | `${TimeUnit}s` | ExprLike;

/** A lambda with unknown parameter types. Its variables can be used where a value of any type is expected. */
export type Lambda = Expr | ((...variables: Expr<never>[]) => unknown);

/**
 * The type that an argument evaluates to. A ref stands for itself, with the document type that it knows. Strings inside of the argument keep
 * their types, which may be a few words: TypeScript has widened those that are literals there.
 */
export type Evaluated<A> = A extends Ref
  ? A
  : A extends ExprLike<infer T>
    ? T
    : A extends string
      ? string
      : A extends number
        ? number
        : A extends bigint
          ? number | bigint
          : A extends boolean
            ? boolean
            : A extends null
              ? null
              : A extends Uint8Array | ArrayBuffer
                ? Bytes
                : A extends (...args: never) => unknown
                  ? Query
                  : A extends readonly [] | readonly [unknown, ...unknown[]]
                    ? { -readonly [K in keyof A]: Literally<A[K]> }
                    : A extends readonly (infer Each)[]
                      ? Literally<Each>[]
                      : A extends object
                        ? { [K in keyof A]: Literally<A[K]> }
                        : A extends undefined
                          ? A
                          : unknown;

/** Like `Evaluated`, but a literal string keeps its type: it may be one of the few words that a field takes. */
export type Literally<A> = A extends string ? A : Evaluated<A>;

/** What may be passed where a value of type `T` is stored: the value, an expression for it, or an object or array with such parts. */
export type Written<T> =
  | T
  | ExprLike<T>
  | (T extends Bytes
      ? Uint8Array | ArrayBuffer
      : T extends string | number | bigint | boolean | null | Expr
        ? never
        : T extends readonly (infer Each)[]
          ? readonly Written<Each>[]
          : T extends object
            ? { readonly [K in keyof T]: Written<T[K]> }
            : never);

/** Like `Written`, but members may be left out, and null removes a member. */
export type Changed<T> =
  | Written<T>
  | (T extends readonly unknown[] | Expr
      ? never
      : T extends object
        ? { readonly [K in keyof T]?: Changed<T[K]> | null }
        : never);
