/** Shared by the readers of forms: parsed parts, which are values or have to be evaluated, and the parser's interface. */
import type { Json, JsonObject } from '../codec/json.ts';
import { QueryFailure, type Fault, type Step } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { isObject } from '../values/value.ts';
import type { Value } from '../values/value.ts';
import type { Literal } from './literal.ts';
import type { Literals } from './literals.ts';
import { strongest, type Effect } from './effect.ts';
import type { LambdaNode, Node } from './node.ts';
import type { QueryPath } from './query-path.ts';
import type { Scopes } from './scopes.ts';
import type { ApiVersion } from './session.ts';

/** A part that has to be evaluated. All other parts are known values after parsing. */
export class Dynamic {
  readonly node: Node;
  constructor(node: Node) {
    this.node = node;
  }
}
export type Parsed = Value | Dynamic;

export const toNode = (parsed: Parsed): Node =>
  parsed instanceof Dynamic
    ? parsed.node
    : { kind: 'constant', value: parsed, path: undefined, effect: 'pure' };

export const effectOfAll = (nodes: readonly Node[]): Effect =>
  nodes.reduce<Effect>((effect, node) => strongest(effect, node.effect), 'pure');

/** The parser's interface for forms that read their parts themselves. */
export interface FormParser {
  readonly apiVersion: ApiVersion;
  /** Faults of undefined variables. They are reported only if there are no other faults. */
  readonly unbound: Fault[];
  readonly scopes: Scopes;
  readonly literals: Literals;
  /** Parses the expression at `step` below `path`. */
  part(json: Json, path: QueryPath, step: Step): Parsed;
  literal(literal: Literal, queryPath: QueryPath): Parsed;
  lambda(json: JsonObject, queryPath: QueryPath): LambdaNode;
}

export const isLambda = (json: Json): json is JsonObject =>
  isObject(json) && json.size === 2 && json.has('lambda') && json.has('expr');

/** Adds the faults of a part that failed. Rethrows other errors, and throws when there are enough faults. */
export function collect(failure: unknown, faults: Fault[]): void {
  if (!(failure instanceof QueryFailure)) throw failure;
  for (const fault of failure.faults) faults.push(fault);
  failWhenFull(faults);
}

export function failWhenFull(faults: readonly Fault[]): void {
  if (faults.length >= LIMITS.faults) throw new QueryFailure(faults.slice(0, LIMITS.faults));
}
