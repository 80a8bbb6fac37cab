/** The checked tree that `parse` makes and `evaluate` executes. */
import type { Value } from '../values/value.ts';
import type { ArgumentPath, FunctionRow, Parameter } from './function-row.ts';
import type { Effect } from './effect.ts';
import type { QueryPath } from './query-path.ts';
import type { ApiVersion, ReadSession } from './session.ts';

export type Pattern = string | readonly string[];

/**
 * A variable, resolved when the query is parsed: slot `index` in the frame `up` levels outward. A `let` has one frame
 * for all its bindings, a lambda one for its pattern.
 */
export interface Variable {
  readonly name: string;
  readonly up: number;
  readonly index: number;
}

export interface LambdaNode {
  readonly pattern: Pattern;
  readonly body: Node;
  readonly apiVersion: ApiVersion;
  /** Outer variables that the body uses, relative to the position of the lambda. */
  readonly free: readonly Variable[];
  readonly effect: Effect;
  /** Wire text `"lambda":…,"expr":…`. */
  readonly wire: string;
  readonly path: QueryPath;
}

/** The parts of the session that resolving a literal needs. */
export type LiteralSession = Pick<
  ReadSession,
  'names' | 'apiVersion' | 'self' | 'requireIndex' | 'shapeOf'
>;

interface Base {
  readonly path: QueryPath;
  readonly effect: Effect;
}

/** An argument with the position of its faults. It is an expression, or a lambda written in place. */
export interface Argument extends ArgumentPath {
  readonly parameter: Parameter<unknown>;
  readonly node: Node | undefined;
  readonly lambda: LambdaNode | undefined;
}

export type Node =
  | (Base & { readonly kind: 'constant'; readonly value: Value })
  /** A literal that depends on the schema (`@ref`, `@set`), resolved when it is evaluated. */
  | (Base & { readonly kind: 'literal'; readonly resolve: (session: LiteralSession) => Value })
  | (Base & { readonly kind: 'array'; readonly items: readonly Node[] })
  | (Base & { readonly kind: 'object'; readonly members: readonly (readonly [string, Node])[] })
  | (Base & { readonly kind: 'var'; readonly variable: Variable })
  | (Base & { readonly kind: 'let'; readonly bindings: readonly Node[]; readonly body: Node })
  | (Base & {
      readonly kind: 'if';
      readonly condition: Node;
      readonly whenTrue: Node;
      readonly whenFalse: Node;
    })
  | (Base & { readonly kind: 'do'; readonly items: readonly Node[] })
  | (Base & {
      readonly kind: 'and' | 'or';
      readonly items: readonly Node[];
      /**
       * Whether evaluation stops at the first operand that decides the result. True since version 3; older lambdas
       * evaluate all operands.
       */
      readonly stopsEarly: boolean;
    })
  | (Base & { readonly kind: 'at'; readonly time: Node; readonly body: Node })
  | (Base & { readonly kind: 'query'; readonly lambda: LambdaNode })
  | (Base & {
      readonly kind: 'call';
      readonly row: FunctionRow;
      /** The given arguments, in the declared order. */
      readonly arguments: readonly Argument[];
    });

export type NodeOf<K extends Node['kind']> = Extract<Node, { readonly kind: K }>;
