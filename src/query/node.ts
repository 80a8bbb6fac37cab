/** The checked tree that `parse` makes and `evaluate` walks. */
import type { Step } from '../errors.ts';
import type { Value } from '../values/value.ts';
import type { FunctionRow } from './define.ts';

/** Where a node stands in the query text: a chain up to the root, made into an array only when an error needs it. */
export interface Place {
  readonly parent: Place | undefined;
  readonly step: Step;
}
export type Where = Place | undefined;

export const at = (parent: Where, step: Step): Place => ({ parent, step });

export function positionOf(place: Where, ...more: readonly Step[]): readonly Step[] {
  const steps: Step[] = [];
  for (let each = place; each; each = each.parent) steps.push(each.step);
  return steps.reverse().concat(more);
}

/** `read` and `write` of everything a node may do when evaluated. Spec: functions 2. */
export type Effect = 'pure' | 'read' | 'write';

export type Pattern = string | readonly string[];

export interface LambdaNode {
  readonly pattern: Pattern;
  readonly body: Node;
  readonly apiVersion: string;
  /** Outer variables used in the body. */
  readonly free: readonly string[];
  readonly effect: Effect;
  /** Wire text of `"lambda":…,"expr":…`. */
  readonly wire: string;
  readonly place: Where;
}

interface Base {
  readonly place: Where;
  readonly effect: Effect;
}

export type Node =
  | (Base & { readonly kind: 'constant'; readonly value: Value })
  /** A literal that depends on the schema (`@ref`, `@set`, `@query` with refs): resolved when evaluated. */
  | (Base & { readonly kind: 'literal'; readonly json: Value })
  | (Base & { readonly kind: 'array'; readonly items: readonly Node[] })
  | (Base & { readonly kind: 'object'; readonly members: readonly (readonly [string, Node])[] })
  | (Base & { readonly kind: 'var'; readonly name: string })
  | (Base & { readonly kind: 'let'; readonly bindings: readonly (readonly [string, Node])[]; readonly body: Node })
  | (Base & { readonly kind: 'if'; readonly condition: Node; readonly then: Node; readonly otherwise: Node })
  | (Base & { readonly kind: 'do'; readonly items: readonly Node[] })
  | (Base & { readonly kind: 'and' | 'or'; readonly items: readonly Node[]; readonly literal: boolean })
  | (Base & { readonly kind: 'at'; readonly time: Node; readonly body: Node })
  | (Base & { readonly kind: 'query'; readonly lambda: LambdaNode })
  | (Base & {
      readonly kind: 'call';
      readonly row: FunctionRow;
      /** By parameter, in the declared order; undefined where an optional key is absent. */
      readonly arguments: readonly (Node | LambdaNode | undefined)[];
    });
