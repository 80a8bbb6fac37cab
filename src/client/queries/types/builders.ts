/** Types of all builders, and of the client methods that run a builder at once. */
import type { Expr, Ref, SetRef } from '../values.ts';
import type { Arg, Evaluated, Lambda, Literally, Plain } from './arguments.ts';
import type { Basic, BindingList, Variables } from './basic.ts';
import type { Collections, Each, ElementOf, Folded, Listed, Mapped } from './collections.ts';
import type { Changes, DataOf, Page, PaginateOptions, Params, Shown } from './documents.ts';
import type { At, Leads, Otherwise, Step } from './paths.ts';
import type { Scalars } from './scalars.ts';
import type { DocumentAt, Identities, Reading, Refs, Sets, Writing } from './storage.ts';

export type Builders = Basic & Collections & Scalars & Reading & Writing & Sets & Identities & Refs;

type Called<F> = F extends (...args: infer A) => Expr<infer R> ? (...args: A) => Promise<R> : never;

/** Called on a client, a builder runs at once: `client.Get(ref)` is `client.query(q.Get(ref))`. */
export type DirectCalls = Direct<Builders, Exclude<keyof Builders, keyof TypedCalls>> & TypedCalls;

/** `All` is a parameter because only then each member keeps the comment of its builder. */
type Direct<All, Name extends keyof All> = { readonly [K in Name]: Called<All[K]> };

/** Calls that are declared by hand, because `Called` would lose their type parameters. */
interface TypedCalls {
  /** The document at a ref, or at the first entry of a set. */
  Get<T = never, A extends Arg = Arg>(ref: A, ts?: Arg): Promise<DocumentAt<T, A>>;
  /**
   * One page of a set, 64 elements by default, with cursors to the next and previous pages. `after` starts at a cursor, `before` ends just
   * before one; `events` returns the history, `sources` adds which set each element comes from.
   */
  Paginate<T, const O extends PaginateOptions = PaginateOptions>(
    set: Expr<SetRef<T>>,
    options?: O,
  ): Promise<Page<Shown<T, O>>>;
  /**
   * One page of a set, 64 elements by default, with cursors to the next and previous pages. `after` starts at a cursor, `before` ends just
   * before one; `events` returns the history, `sources` adds which set each element comes from.
   */
  Paginate<T = unknown>(set: Arg, options?: PaginateOptions): Promise<Page<T>>;
  /** Creates a document: in a collection with a new id, or at a ref with the id of the ref. */
  Create<T = never, A extends Arg = Arg>(
    collection: A,
    params?: Params<DataOf<A>>,
  ): Promise<DocumentAt<T, A>>;
  /** Merges members into a document at every depth. Null removes a member; arrays are replaced as a whole. */
  Update<T = never, A extends Arg = Arg>(
    ref: A,
    params: Changes<DataOf<A>>,
  ): Promise<DocumentAt<T, A>>;
  /** Replaces all members of a document. */
  Replace<T = never, A extends Arg = Arg>(
    ref: A,
    params: Params<DataOf<A>>,
  ): Promise<DocumentAt<T, A>>;
  /** Deletes a document and returns it as it was. */
  Delete<T = never, A extends Arg = Arg>(ref: A): Promise<DocumentAt<T, A>>;
  /** Calls a stored function. It runs with the permissions of its own role if it has one, otherwise with those of the caller. */
  Call<T = unknown>(callee: Arg, ...values: Arg[]): Promise<T>;
  /** The value at a path, or the default if there is none. The default is evaluated only if needed. */
  Select<O, const P extends Step | readonly Step[], D extends Arg = never>(
    path: P & Leads<O, P, D>,
    from: Expr<O>,
    otherwise?: D,
  ): Promise<At<O, P> | Literally<D>>;
  /** The value at a path, or the default if there is none. The default is evaluated only if needed. */
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
  /** Binds variables and evaluates the body with them. A binding may use those before it; all are evaluated, used or not. */
  Let<const B extends BindingList, A>(
    bindings: B,
    body: (...variables: Variables<B>) => A,
  ): Promise<Evaluated<A>>;
  /** Binds variables and evaluates the body with them. A binding may use those before it; all are evaluated, used or not. */
  Let<A>(bindings: Plain, body: A | ((...variables: Expr<never>[]) => A)): Promise<Evaluated<A>>;
  /** Evaluates its expressions from left to right and returns the last result. */
  Do<A extends readonly [Arg, ...Arg[]]>(
    ...steps: A
  ): Promise<A extends readonly [...unknown[], infer Last] ? Evaluated<Last> : unknown>;
  /** Evaluates one of two branches; the other is not evaluated. */
  If<A extends Arg, B extends Arg>(
    condition: Arg,
    then: A,
    otherwise: B,
  ): Promise<Literally<A> | Literally<B>>;
  /** Applies a lambda to each element of an array or page. */
  Map<C extends Listed, B>(collection: Expr<C>, body: Each<ElementOf<C>, B>): Promise<Mapped<C, B>>;
  /** Applies a lambda to each element of an array or page. */
  Map<T = unknown>(collection: Arg, body: Lambda): Promise<T>;
  /** The number of elements. */
  Count<A extends Arg>(collection: A): Promise<Folded<A, number>>;
  /** The sum of all elements: an Integer unless one of them is a Double; 0 if there are none. */
  Sum<A extends Arg>(collection: A): Promise<Folded<A, number>>;
  /** The arithmetic mean. */
  Mean<A extends Arg>(collection: A): Promise<Folded<A, number>>;
  /** Whether any element is true. Every element is checked, so an element that is not a Boolean fails even after a true one. */
  Any<A extends Arg>(collection: A): Promise<Folded<A, boolean>>;
  /** Whether every element is true; true if there are none. */
  All<A extends Arg>(collection: A): Promise<Folded<A, boolean>>;
  /** The ref of the collection with this name. */
  Collection(name: Arg, scope?: Arg): Promise<Ref>;
  /** The elements of any operand. A repeated element occurs as often as in the operand that has it most often. */
  Union(...sets: [Arg, ...Arg[]]): Promise<SetRef>;
  /** The elements that all operands have. */
  Intersection(...sets: [Arg, ...Arg[]]): Promise<SetRef>;
  /** The elements of the first operand that no other operand has. */
  Difference(...sets: [Arg, ...Arg[]]): Promise<SetRef>;
}
