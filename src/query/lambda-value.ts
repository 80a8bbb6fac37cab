/** Lambdas as values: a lambda node with the scope it closes over. Spec: values 6. */
import { quote, stringifyJson } from '../codec/json.ts';
import { renderValue } from '../codec/wire.ts';
import { assert } from '../errors.ts';
import { Suspended } from '../store/reader.ts';
import { membersOf } from '../values/object-view.ts';
import { partOf, partsOfOp } from '../values/sets.ts';
import { isArray, isKind } from '../values/value.ts';
import type { DatabaseId, Lambda, Value } from '../values/value.ts';
import type { Effect } from './effect.ts';
import { frameAbove, type Frame } from './frame.ts';
import type { LambdaNode } from './node.ts';
import type { ReadSession } from './session.ts';

type NamesSession = Pick<ReadSession, 'names' | 'apiVersion' | 'pendingTs'>;

export class LambdaValue implements Lambda {
  readonly kind = 'lambda';
  readonly body: LambdaNode;
  /** The database in which names of the body are looked up. Undefined: the database in which the lambda is applied. */
  readonly database: DatabaseId | undefined;
  private readonly closure: { readonly scope: Frame; readonly session: NamesSession } | undefined;

  /** @param closure may be omitted when the lambda uses no outer variable */
  constructor(
    body: LambdaNode,
    closure?: { readonly scope: Frame; readonly session: NamesSession },
  ) {
    assert(closure || body.free.length === 0, () => 'a lambda lost its scope');
    this.body = body;
    this.database = closure?.session.names.database;
    this.closure = body.free.length > 0 ? closure : undefined;
  }

  get pattern(): Lambda['pattern'] {
    return this.body.pattern;
  }

  get apiVersion(): LambdaNode['apiVersion'] {
    return this.body.apiVersion;
  }

  get scope(): Frame | undefined {
    return this.closure?.scope;
  }

  get captures(): ReadonlyMap<string, Value> {
    const captures = new Map<string, Value>();
    if (!this.closure) return captures;
    for (const { name, up, index } of this.body.free) {
      const value = frameAbove(this.closure.scope, up).slots[index];
      if (value instanceof Suspended) throw new Suspended([]);
      captures.set(name, value ?? null);
    }
    return captures;
  }

  /**
   * The wire text. Captured values become a `let` around `expr` with a single object of bindings, as in all texts of
   * lambdas.
   */
  get wire(): string {
    const { closure } = this;
    return closure ? frozen(this.body, this.captures, closure.session) : this.body.wire;
  }
}

/** Every lambda is a `LambdaValue`, because only this room makes lambdas. */
export function lambdaNodeOf(lambda: Lambda): LambdaValue {
  assert(lambda instanceof LambdaValue, () => 'a lambda came from elsewhere');
  return lambda;
}

export const databaseOf = (lambda: Lambda): DatabaseId | undefined => lambdaNodeOf(lambda).database;

/** The effect of applying the lambda, including the functions that it calls. */
export const effectOf = (lambda: Lambda): Effect => lambdaNodeOf(lambda).body.effect;

function frozen(
  lambda: LambdaNode,
  captures: ReadonlyMap<string, Value>,
  session: NamesSession,
): string {
  const pattern = stringifyJson(lambda.pattern);
  const expression = lambda.wire.slice(`"lambda":${pattern},"expr":`.length);
  const bindings = [...captures].map(
    ([name, value]) => `${quote(name)}:${expressionText(value, session)}`,
  );
  const isTagged = [...captures.keys()].some((name) => name.startsWith('@'));
  const object = escaped(`{${bindings.join(',')}}`, isTagged);
  return `"lambda":${pattern},"expr":{"let":${object},"in":${expression}}`;
}

/**
 * Wire text of an expression that evaluates to `value`. A ref to something that no longer exists becomes null, and so
 * does a set that contains one.
 */
function expressionText(value: Value, session: NamesSession): string {
  if (isKind(value, 'set') && !isThere(value, session)) return 'null';
  if (isArray(value)) return `[${value.map((item) => expressionText(item, session)).join(',')}]`;
  // Rendered as a value, NaN and the infinities would be strings.
  if (typeof value === 'number' && !Number.isFinite(value))
    return Number.isNaN(value) ? '{"subtract":[1E999,1E999]}' : stringifyJson(value);
  const members = membersOf(value);
  if (!members) {
    const { names, apiVersion, pendingTs } = session;
    return renderValue(value, { names: names.ofAnswer, apiVersion, pendingTs });
  }
  const texts: string[] = [];
  let isTagged = false;
  for (const [key, member] of members) {
    isTagged ||= key.startsWith('@');
    texts.push(`${quote(key)}:${expressionText(member, session)}`);
  }
  return `{"object":${escaped(`{${texts.join(',')}}`, isTagged)}}`;
}

/**
 * Whether all refs in a set still exist. Without one of its parts, the text of a set would be invalid or would mean
 * another set.
 */
function isThere(value: Value, session: NamesSession): boolean {
  if (isArray(value)) return value.every((item) => isThere(item, session));
  if (isKind(value, 'ref')) return session.names.ofAnswer.refToWire(value) !== undefined;
  if (!isKind(value, 'set')) return true;
  return partsOfOp(value.op).every(([name]) => isThere(partOf(value, name), session));
}

const escaped = (object: string, isTagged: boolean): string =>
  isTagged ? `{"@obj":${object}}` : object;
