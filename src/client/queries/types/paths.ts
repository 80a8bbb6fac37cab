/** Types of paths in `Select`. */
import type { Expr } from '../values.ts';
import type { Arg } from './arguments.ts';
import type { Data, Page, StoredDocument } from './documents.ts';

export type Step = string | number;

/**
 * Type of the value at a literal path; `unknown` where the type does not tell. Along the path, a member that is optional or may be null
 * counts as present, because `Select` fails when it is not there.
 */
export type At<O, P> = P extends readonly [infer K, ...infer Rest]
  ? At<Member<Present<O>, K>, Rest>
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
      : K extends number
        ? O extends Page<infer Each>
          ? Each
          : unknown
        : unknown;

/**
 * Makes a literal path that does not exist in a value of a known type a type error, by requiring a type that no path has. With a default,
 * the path is not checked: the caller expects that the value may be absent. Nor is it where a type parameter decides: the condition is on
 * a tuple whose length TypeScript then does not know, and it skips the branch with the error.
 */
export type Leads<O, P, Default> = [Default] extends [never]
  ? [0, ...(Misses<O, P> extends true ? [] : [0])] extends [0]
    ? Nowhere
    : unknown
  : unknown;

/** The default of `Select`, its last argument, which may be left out. */
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

/** Paths into values with a wire form of their own, such as refs, and into documents that may be schema objects, are not checked. */
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
              ? [K] extends [KeyOf<O> | (O extends Page ? number : never)]
                ? false
                : true
              : false;

/** Type of the `data` of a document; never for other types. */
type DataIn<O> = O extends StoredDocument<infer T> ? T : never;
/** Keys of any member of a union. */
type KeyOf<O> = O extends unknown ? keyof O : never;

/**
 * Paths in a value that an editor suggests, of up to three steps. They are mutable tuples, unlike those that are inferred: TypeScript
 * infers nothing from a path that is identical to one of these. Nor is the type of the value inferred from them.
 */
export type Suggested<O> = Paths3<[O][O extends unknown ? 0 : never]>;
type Paths3<O> = { [K in MemberOf<O>]: [K] | [K, ...Paths2<Present<O>[K]>] }[MemberOf<O>];
type Paths2<O> = { [K in MemberOf<O>]: [K] | [K, ...Paths1<Present<O>[K]>] }[MemberOf<O>];
type Paths1<O> = { [K in MemberOf<O>]: [K] }[MemberOf<O>];

type Present<O> = Exclude<O, null | undefined>;
/** Names of the members of an object of a known type. Values with a wire form of their own, such as refs, and arrays have none. */
type MemberOf<O> = [Present<O>] extends [Expr | readonly unknown[] | string | number | boolean]
  ? never
  : string extends keyof Present<O>
    ? never
    : keyof Present<O> & string;
