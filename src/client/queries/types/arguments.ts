/** What may stand in a query, and what it is once evaluated. */
import type { Bytes, Expr, Query } from '../values.ts';

/** Any object but a `Date`, which has no wire form: say `q.Time(date.toISOString())`. */
export type Plain = Literal | (object & NoDate);
type Literal = NoDate & { readonly [member: string]: unknown };
interface NoDate {
  readonly getTime?: never;
}

/** What may stand where a query expects an expression; functions become lambdas. */
export type Arg = Expr | string | number | bigint | boolean | null | symbol | Plain;

/** A lambda of which nothing is known. Its variables are of whatever type they are needed as. */
export type Lambda = Expr | ((...variables: Expr<never>[]) => unknown);

/** What an argument is once evaluated. */
export type Evaluated<A> =
  A extends Expr<infer T>
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
                  : A extends readonly (infer Each)[]
                    ? Evaluated<Each>[]
                    : A extends object
                      ? { [K in keyof A]: Evaluated<A[K]> }
                      : unknown;

/** What may be written where a value of type `T` is stored: the value, an expression of it, or parts of either. */
export type Written<T> =
  | T
  | Expr<T>
  | (T extends string | number | bigint | boolean | null | Expr
      ? never
      : T extends readonly (infer Each)[]
        ? readonly Written<Each>[]
        : T extends object
          ? { readonly [K in keyof T]: Written<T[K]> }
          : never);

/** As `Written`, of some members; null removes one. */
export type Changed<T> =
  | Written<T>
  | (T extends readonly unknown[] | Expr
      ? never
      : T extends object
        ? { readonly [K in keyof T]?: Changed<T[K]> | null }
        : never);
