/** Common parts of literals: values that are known at once or once the schema is known, and faults of the query text. */
import type { Json, JsonObject } from '../codec/json.ts';
import { fail, type FaultText } from '../errors.ts';
import { typeExpected } from '../fault-texts.ts';
import { typeName } from '../values/type-name.ts';
import type { Lambda, Value } from '../values/value.ts';
import { positionOf, type QueryPath } from './query-path.ts';
import type { LiteralSession } from './node.ts';

/** A literal that depends on the schema, so it is resolved when it is evaluated. */
export class Deferred {
  readonly resolve: (session: LiteralSession) => Value;
  constructor(resolve: (session: LiteralSession) => Value) {
    this.resolve = resolve;
  }
}
export type Literal = Value | Deferred;

export const settle = (literal: Literal, session: LiteralSession): Value =>
  literal instanceof Deferred ? literal.resolve(session) : literal;

/** Reads literals inside literals: sets contain data and lambdas. */
export interface LiteralReader {
  /** Reads plain data: escapes are decoded, and nothing is an expression. */
  data(json: Json, path: QueryPath): Literal;
  /** Reads the content of `@query`, or a lambda without `@query` in a set. */
  lambda(json: JsonObject, queryPath: QueryPath): Lambda;
}

export const invalid = (path: QueryPath, text: FaultText, detail?: string): never =>
  fail('invalid expression', positionOf(path), text, { detail });

/** Throws "T expected, U provided." while the query is parsed. */
export const expected = (type: string, json: Value, path: QueryPath): never =>
  invalid(path, typeExpected(type, typeName(json)));
