/** Types of the builders for names, branches and lambdas. */
import type { Bytes, Expr, Query, Ref } from '../values.ts';
import type { Arg, Evaluated, Lambda, Literally, Plain } from './arguments.ts';
import type { CollectionRef, DocumentRef } from './documents.ts';
import type { Mode, Returns, Some } from './returns.ts';

type Last<A> = A extends readonly [...unknown[], infer Step]
  ? Evaluated<Step>
  : A extends readonly (infer Step)[]
    ? Evaluated<Step>
    : unknown;

/** Bindings in an array have an order, so a function that is passed as the body gets variables of their types. */
export type BindingList = readonly Readonly<Record<string, unknown>>[];
export type Variables<B extends BindingList> = {
  [K in keyof B]: Expr<Evaluated<B[K][keyof B[K]]>>;
};

/** The members of an object have no order that types know, so only a single one has a type as a variable. */
type VariablesOf<B> =
  IsOne<keyof B> extends true ? [variable: Expr<Evaluated<B[keyof B]>>] : Expr<never>[];
type IsOne<K> = string extends K
  ? false
  : (K extends unknown ? (each: K) => void : never) extends (all: infer Both) => void
    ? [K] extends [Both]
      ? true
      : false
    : false;

export interface Basic<M extends Mode> {
  /** The ref of the document with this id in a collection, whether it exists or not. */
  Ref: {
    /** The ref of the document with this id in a collection, whether it exists or not. */
    <T>(collection: Expr<CollectionRef<T>>, id: Arg): Returns<M, Typed<T>>;
    /** The ref of the document with this id in a collection, whether it exists or not. */
    (collection: Arg, id: Arg): Returns<M, Ref>;
    /** The ref of the document with this id in a collection, whether it exists or not. */
    (path: string): Returns<M, Ref>;
  };
  /** Bytes, from their contents or from base64. */
  Bytes: (bytes: Uint8Array | ArrayBuffer | string) => Returns<M, Bytes>;
  /** Fails the query with a message of your own; its writes are rolled back. */
  Abort: (message: Arg) => Returns<M, never>;
  /** Evaluates an expression against the database as it was at another time. */
  At: <A extends Arg>(time: Arg, expression: A) => Returns<M, Evaluated<A>>;
  /** Binds variables and evaluates the body with them. A binding may use those before it; all are evaluated, used or not. */
  Let: {
    /** Binds variables and evaluates the body with them. A binding may use those before it; all are evaluated, used or not. */
    <const B extends BindingList, A>(
      bindings: B,
      body: (...variables: Variables<B>) => A,
    ): Returns<M, Evaluated<A>>;
    /** Binds variables and evaluates the body with them. A binding may use those before it; all are evaluated, used or not. */
    <const B extends Plain, A>(
      bindings: B,
      body: A | ((...variables: VariablesOf<B>) => A),
    ): Returns<M, Evaluated<A>>;
  };
  /** The value of a variable bound by `let` or a lambda. Names are checked before anything is evaluated. */
  Var: <T = never>(name: Arg) => Returns<M, T>;
  /** Evaluates one of two branches; the other is not evaluated. */
  If: <A extends Arg, B extends Arg>(
    condition: Arg,
    then: A,
    otherwise: B,
  ) => Returns<M, Literally<A> | Literally<B>>;
  /** Evaluates its expressions from left to right and returns the last result. */
  Do: <A extends readonly Arg[]>(...steps: Some<A>) => Returns<M, Last<A>>;
  /** An object whose members are expressions. Builders make it from plain objects, so it is rarely written out. */
  Object: <A extends Plain>(members: A) => Returns<M, Evaluated<A>>;
  /** A function whose parameters are variables of the query. Where a lambda is expected, a JavaScript function can be written instead. */
  Lambda: {
    /** A function whose parameters are variables of the query. Where a lambda is expected, a JavaScript function can be written instead. */
    (body: Lambda): Returns<M, Query>;
    /** A function whose parameters are variables of the query. Where a lambda is expected, a JavaScript function can be written instead. */
    (parameters: string | readonly string[], body: Arg): Returns<M, Query>;
  };
  /** Calls a stored function. It runs with the permissions of its own role if it has one, otherwise with those of the caller. */
  Call: <T = unknown>(callee: Arg, ...values: Arg[]) => Returns<M, T>;
  /** A lambda as a value; it captures the variables it uses. The body of a stored function is one. */
  Query: (lambda: Lambda) => Returns<M, Query>;
}

/** For a collection ref without a document type, a plain ref. */
type Typed<T> = unknown extends T ? Ref : DocumentRef<T>;
