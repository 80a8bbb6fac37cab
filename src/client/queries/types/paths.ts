/** Where a path leads. */
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
