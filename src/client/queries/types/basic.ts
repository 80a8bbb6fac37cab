/** Types of the builders for names, branches and lambdas. */
import type { Bytes, Expr, Query, Ref } from '../values.ts';
import type { Arg, Evaluated, Lambda, Plain } from './arguments.ts';
import type { CollectionRef, DocumentRef } from './documents.ts';

type Last<A> = A extends readonly [...unknown[], infer Step] ? Evaluated<Step> : unknown;

/** Bindings in an array have an order, so a function that is passed as the body gets variables of their types. */
export type BindingList = readonly Readonly<Record<string, unknown>>[];
export type Variables<B extends BindingList> = {
  [K in keyof B]: Expr<Evaluated<B[K][keyof B[K]]>>;
};

export interface Basic {
  Ref: {
    <T>(collection: Expr<CollectionRef<T>>, id: Arg): Expr<Typed<T>>;
    (collection: Arg, id: Arg): Expr<Ref>;
    (path: string): Expr<Ref>;
  };
  Bytes: (bytes: Uint8Array | ArrayBuffer | string) => Expr<Bytes>;
  Abort: (message: Arg) => Expr<never>;
  At: <A extends Arg>(time: Arg, expression: A) => Expr<Evaluated<A>>;
  Let: {
    <const B extends BindingList, A>(
      bindings: B,
      body: (...variables: Variables<B>) => A,
    ): Expr<Evaluated<A>>;
    <A>(bindings: Plain, body: A | ((...variables: Expr<never>[]) => A)): Expr<Evaluated<A>>;
  };
  Var: <T = never>(name: Arg) => Expr<T>;
  If: <A extends Arg, B extends Arg>(
    condition: Arg,
    then: A,
    otherwise: B,
  ) => Expr<Evaluated<A> | Evaluated<B>>;
  Do: <A extends readonly [Arg, ...Arg[]]>(...steps: A) => Expr<Last<A>>;
  Object: <A extends Plain>(members: A) => Expr<Evaluated<A>>;
  Lambda: {
    (body: Lambda): Expr<Query>;
    (parameters: string | readonly string[], body: Arg): Expr<Query>;
  };
  Call: <T = unknown>(callee: Arg, ...values: Arg[]) => Expr<T>;
  Query: (lambda: Lambda) => Expr<Query>;
}

/** For a collection ref without a document type, a plain ref. */
type Typed<T> = unknown extends T ? Ref : DocumentRef<T>;
