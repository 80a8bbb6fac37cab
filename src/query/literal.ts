/** What literals have in common: values known at once, or once the schema is known; faults of the text. */
import type { Json, JsonObject } from '../codec/json.ts';
import { fail, type FaultText } from '../errors.ts';
import { typeExpected } from '../fault-texts.ts';
import { typeName } from '../values/type-name.ts';
import type { Lambda, Value } from '../values/value.ts';
import { positionOf, type QueryPath } from './query-path.ts';
import type { LiteralSession } from './node.ts';

/** A literal that depends on the schema. */
export class Deferred {
  readonly resolve: (session: LiteralSession) => Value;
  constructor(resolve: (session: LiteralSession) => Value) {
    this.resolve = resolve;
  }
}
export type Literal = Value | Deferred;

export const settle = (literal: Literal, session: LiteralSession): Value =>
  literal instanceof Deferred ? literal.resolve(session) : literal;

/** Literals hold literals: sets have data and lambdas inside. */
export interface LiteralReader {
  /** Plain data: nothing is an expression, only escapes are decoded. */
  data(json: Json, path: QueryPath): Literal;
  /** The inside of `@query`; the bare lambdas of sets are the same. */
  lambda(json: JsonObject, queryPath: QueryPath): Lambda;
}

export const invalid = (path: QueryPath, text: FaultText, detail?: string): never =>
  fail('invalid expression', positionOf(path), text, { detail });

/** "T expected, U provided.", found while reading the query. */
export const expected = (type: string, json: Value, path: QueryPath): never =>
  invalid(path, typeExpected(type, typeName(json)));
