/** Types of all builders, and of the client methods that run a builder at once. */
import type { Expr, Ref, SetRef } from '../values.ts';
import type { Arg, Evaluated, Lambda, Plain } from './arguments.ts';
import type { Basic, BindingList, Variables } from './basic.ts';
import type { Collections, Each, ElementOf, Folded, Listed, Mapped } from './collections.ts';
import type { Changes, DataOf, Page, PaginateOptions, Params, Shown } from './documents.ts';
import type { At, Leads, Otherwise, Step } from './paths.ts';
import type { Scalars } from './scalars.ts';
import type { DocumentAt, Identities, Reading, Refs, Sets, Writing } from './storage.ts';

export type Builders = Basic & Collections & Scalars & Reading & Writing & Sets & Identities & Refs;

type Called<F> = F extends (...args: infer A) => Expr<infer R> ? (...args: A) => Promise<R> : never;

/** Called on a client, a builder runs at once: `client.Get(ref)` is `client.query(q.Get(ref))`. */
export type DirectCalls = {
  readonly [K in Exclude<keyof Builders, keyof TypedCalls>]: Called<Builders[K]>;
} & TypedCalls;

/** Calls that are declared by hand, because `Called` would lose their type parameters. */
interface TypedCalls {
  Get<T = never, A extends Arg = Arg>(ref: A, ts?: Arg): Promise<DocumentAt<T, A>>;
  Paginate<T, const O extends PaginateOptions = PaginateOptions>(
    set: Expr<SetRef<T>>,
    options?: O,
  ): Promise<Page<Shown<T, O>>>;
  Paginate<T = unknown>(set: Arg, options?: PaginateOptions): Promise<Page<T>>;
  Create<T = never, A extends Arg = Arg>(
    collection: A,
    params?: Params<DataOf<A>>,
  ): Promise<DocumentAt<T, A>>;
  Update<T = never, A extends Arg = Arg>(
    ref: A,
    params: Changes<DataOf<A>>,
  ): Promise<DocumentAt<T, A>>;
  Replace<T = never, A extends Arg = Arg>(
    ref: A,
    params: Params<DataOf<A>>,
  ): Promise<DocumentAt<T, A>>;
  Delete<T = never, A extends Arg = Arg>(ref: A): Promise<DocumentAt<T, A>>;
  Call<T = unknown>(callee: Arg, ...values: Arg[]): Promise<T>;
  Select<O, const P extends Step | readonly Step[], D = never>(
    path: P & Leads<O, P, D>,
    from: Expr<O>,
    otherwise?: D,
  ): Promise<At<O, P> | Evaluated<D>>;
  Select<
    T = unknown,
    A extends Arg = Arg,
    const P extends Arg = Arg,
    D extends Otherwise = Otherwise,
  >(
    path: P & (D extends readonly [] ? Leads<Evaluated<A>, P, never> : unknown),
    from: A,
    ...otherwise: D
  ): Promise<T>;
  Let<const B extends BindingList, A>(
    bindings: B,
    body: (...variables: Variables<B>) => A,
  ): Promise<Evaluated<A>>;
  Let<A>(bindings: Plain, body: A | ((...variables: Expr<never>[]) => A)): Promise<Evaluated<A>>;
  Do<A extends readonly [Arg, ...Arg[]]>(
    ...steps: A
  ): Promise<A extends readonly [...unknown[], infer Last] ? Evaluated<Last> : unknown>;
  If<A extends Arg, B extends Arg>(
    condition: Arg,
    then: A,
    otherwise: B,
  ): Promise<Evaluated<A> | Evaluated<B>>;
  Map<C extends Listed, B>(collection: Expr<C>, body: Each<ElementOf<C>, B>): Promise<Mapped<C, B>>;
  Map<T = unknown>(collection: Arg, body: Lambda): Promise<T>;
  Count<A extends Arg>(collection: A): Promise<Folded<A, number>>;
  Sum<A extends Arg>(collection: A): Promise<Folded<A, number>>;
  Mean<A extends Arg>(collection: A): Promise<Folded<A, number>>;
  Any<A extends Arg>(collection: A): Promise<Folded<A, boolean>>;
  All<A extends Arg>(collection: A): Promise<Folded<A, boolean>>;
  Collection(name: Arg, scope?: Arg): Promise<Ref>;
  Union(...sets: [Arg, ...Arg[]]): Promise<SetRef>;
  Intersection(...sets: [Arg, ...Arg[]]): Promise<SetRef>;
  Difference(...sets: [Arg, ...Arg[]]): Promise<SetRef>;
}
