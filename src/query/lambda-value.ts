/** Lambdas as values: a node closed over its scope. Spec: values 6. */
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
  /** Where names in its body are looked up; undefined: where it is applied. */
  readonly database: DatabaseId | undefined;
  private readonly closure: { readonly scope: Frame; readonly session: NamesSession } | undefined;

  /** `closure` may be left out when the lambda uses no outer variable. */
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

  /** Captures are frozen into a `let` around `expr`: one object, as in all texts of lambdas. */
  get wire(): string {
    const { closure } = this;
    return closure ? frozen(this.body, this.captures, closure.session) : this.body.wire;
  }
}

/** The query room made every lambda there is. */
export function lambdaNodeOf(lambda: Lambda): LambdaValue {
  assert(lambda instanceof LambdaValue, () => 'a lambda came from elsewhere');
  return lambda;
}

export const databaseOf = (lambda: Lambda): DatabaseId | undefined => lambdaNodeOf(lambda).database;

/** All that applying it may do, calls of functions included. */
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

/** Wire text of an expression that gives `value` again; null in place of a ref or set with something in it that is gone. */
function expressionText(value: Value, session: NamesSession): string {
  if (isKind(value, 'set') && !isThere(value, session)) return 'null';
  if (isArray(value)) return `[${value.map((item) => expressionText(item, session)).join(',')}]`;
  // Rendered, it is a text.
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

/** The text of a set without a part of it would be no set, or another one. */
function isThere(value: Value, session: NamesSession): boolean {
  if (isArray(value)) return value.every((item) => isThere(item, session));
  if (isKind(value, 'ref')) return session.names.ofAnswer.refToWire(value) !== undefined;
  if (!isKind(value, 'set')) return true;
  return partsOfOp(value.op).every(([name]) => isThere(partOf(value, name), session));
}

const escaped = (object: string, isTagged: boolean): string =>
  isTagged ? `{"@obj":${object}}` : object;
