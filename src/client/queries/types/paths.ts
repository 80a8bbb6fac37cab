/** Where a path leads. */
import type { Expr } from '../values.ts';
import type { Arg } from './arguments.ts';
import type { Data, StoredDocument } from './documents.ts';

export type Step = string | number;

/** The value at a literal path; unknown where the type says nothing. What may be absent is there, or `Select` fails. */
export type At<O, P> = P extends readonly [infer K, ...infer Rest]
  ? At<Member<O, K>, Rest>
  : P extends readonly []
    ? O
    : P extends Step
      ? Member<O, P>
      : unknown;

type Member<O, K> = [O] extends [never]
  ? never
  : O extends readonly (infer Each)[]
    ? K extends number
      ? K extends keyof O
        ? O[K]
        : Each
      : unknown
    : K extends keyof O
      ? Exclude<O[K], undefined>
      : unknown;

/**
 * For a literal path that leads nowhere in a known shape a type that no path has, so that it is an error. Whoever gives a
 * default expects that something is absent.
 */
export type Leads<O, P, Default> = [Default] extends [never]
  ? Misses<O, P> extends true
    ? Nowhere
    : unknown
  : unknown;

/** The last argument of `Select`, or none. */
export type Otherwise = readonly [] | readonly [otherwise: Arg];

interface Nowhere {
  readonly 'this path leads nowhere in a value of this type': never;
}

type Misses<O, P> = P extends readonly [infer K, ...infer Rest]
  ? MissesStep<Exclude<O, null | undefined>, K> extends true
    ? true
    : Misses<At<Exclude<O, null | undefined>, readonly [K]>, Rest>
  : P extends Step
    ? MissesStep<Exclude<O, null | undefined>, P>
    : false;

/** Nothing is said of values with a form of their own, such as refs, and of documents that may be schema objects. */
type MissesStep<O, K> = [O] extends [never]
  ? false
  : unknown extends O
    ? false
    : [O] extends [Expr]
      ? false
      : Data extends DataIn<O>
        ? false
        : string extends K
          ? false
          : [O] extends [readonly unknown[]]
            ? K extends string
              ? true
              : false
            : [O] extends [object]
              ? [K] extends [KeyOf<O>]
                ? false
                : true
              : false;

/** Never, unless it is a document. */
type DataIn<O> = O extends StoredDocument<infer T> ? T : never;
/** Of any member of a union. */
type KeyOf<O> = O extends unknown ? keyof O : never;
