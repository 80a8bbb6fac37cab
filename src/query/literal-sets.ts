/** `@set` literals. Their parts are data: expressions are not evaluated inside. Spec: values 5. */
import { undefinedRef } from '../fault-texts.ts';
import type { Json, JsonObject } from '../codec/json.ts';
import { EFFECT_RANK, type Effect } from './effect.ts';
import { at, type QueryPath } from './query-path.ts';
import type { LiteralSession } from './node.ts';
import { isArray, isKind, isObject, Ref, UnresolvedRef } from '../values/value.ts';
import type { Lambda, SetValue, Value } from '../values/value.ts';
import { nativeSet } from './casts.ts';
import { effectOf } from './lambda-value.ts';
import { Deferred, invalid, settle, type Literal, type LiteralReader } from './literal.ts';
import { NATIVE } from '../values/native-kinds.ts';
import { isNativeCollectionRef } from '../values/native-refs.ts';

/** Parts of one `@set` as they are read. */
interface Parts {
  readonly json: JsonObject;
  readonly path: QueryPath;
  readonly reader: LiteralReader;
}
type Resolve = (session: LiteralSession) => SetValue;

/** By the keys, sorted. */
const SHAPES: ReadonlyMap<string, (parts: Parts) => Resolve> = new Map<
  string,
  (parts: Parts) => Resolve
>([
  ['match', readMatch],
  ['match,terms', readMatch],
  ['documents', readDocuments],
  ['singleton', readSingleton],
  ['events', readEvents],
  ['union', (parts) => readAlgebra('union', parts)],
  ['intersection', (parts) => readAlgebra('intersection', parts)],
  ['difference', (parts) => readAlgebra('difference', parts)],
  ['distinct', (parts) => readWrapped('distinct', parts)],
  ['reverse', (parts) => readWrapped('reverse', parts)],
  ['collection,filter', readFilter],
  ['join,with', readJoin],
  ['range', readRange],
  ['from,range', readRange],
  ['range,to', readRange],
  ['from,range,to', readRange],
]);

/** The inside of `{"@set":…}`. */
export function readSet(json: Json, path: QueryPath, reader: LiteralReader): Deferred {
  const shape = isObject(json) ? SHAPES.get([...json.keys()].sort().join(',')) : undefined;
  return isObject(json) && shape
    ? new Deferred(shape({ json, path, reader }))
    : invalid(path, 'Invalid set.');
}

const part = ({ json, path, reader }: Parts, key: string): Literal =>
  reader.data(json.get(key) ?? null, at(path, key));

const listOf = (value: Value): readonly Value[] => (isArray(value) ? value : [value]);

function refIn(value: Value, collection: number | undefined, path: QueryPath): Ref {
  if (value instanceof Ref && (collection === undefined || value.collection === collection)) {
    return value;
  }
  return value instanceof UnresolvedRef ? unresolved(value, path) : invalid(path, 'Invalid set.');
}

const unresolved = (value: UnresolvedRef, path: QueryPath): never =>
  invalid(path, undefinedRef(value.what, value.name));

function setIn(value: Value, path: QueryPath): SetValue {
  if (isKind(value, 'set')) return value;
  if (isNativeCollectionRef(value)) return nativeSet(value);
  return value instanceof UnresolvedRef ? unresolved(value, path) : invalid(path, 'Invalid set.');
}

function readMatch(parts: Parts): Resolve {
  const match = part(parts, 'match');
  const terms = parts.json.has('terms') ? part(parts, 'terms') : [];
  return (session) => {
    const index = refIn(settle(match, session), NATIVE.indexes, at(parts.path, 'match'));
    return {
      kind: 'set',
      op: 'match',
      index: session.requireIndex(index, parts.path),
      terms: listOf(settle(terms, session)),
    };
  };
}

function readDocuments(parts: Parts): Resolve {
  const documents = part(parts, 'documents');
  const path = at(parts.path, 'documents');
  return (session) => ({
    kind: 'set',
    op: 'documents',
    collection: refIn(settle(documents, session), NATIVE.collections, path),
  });
}

function readSingleton(parts: Parts): Resolve {
  const singleton = part(parts, 'singleton');
  const path = at(parts.path, 'singleton');
  return (session) => ({
    kind: 'set',
    op: 'singleton',
    ref: refIn(settle(singleton, session), undefined, path),
  });
}

/** A set under `events` is written without its tag. */
function readEvents(parts: Parts): Resolve {
  const json = parts.json.get('events') ?? null;
  const path = at(parts.path, 'events');
  const isBare = isObject(json) && !json.has('@ref') && !json.has('@set');
  const events = isBare ? readSet(json, path, parts.reader) : part(parts, 'events');
  return (session) => {
    const value = settle(events, session);
    const of = isKind(value, 'set') ? value : refIn(value, undefined, path);
    return { kind: 'set', op: 'events', of };
  };
}

function readAlgebra(op: 'union' | 'intersection' | 'difference', parts: Parts): Resolve {
  const members = part(parts, op);
  const path = at(parts.path, op);
  return (session) => {
    const sets = listOf(settle(members, session)).map((value) => setIn(value, path));
    return sets.length > 0 ? { kind: 'set', op, sets } : invalid(path, 'Invalid set.');
  };
}

function readWrapped(op: 'distinct' | 'reverse', parts: Parts): Resolve {
  const inner = part(parts, op);
  const path = at(parts.path, op);
  return (session) => ({ kind: 'set', op, set: setIn(settle(inner, session), path) });
}

/** Lambdas are bare inside sets. */
function lambdaPart({ json, path, reader }: Parts, key: string, limit: Effect): Lambda {
  const inside = json.get(key) ?? null;
  const where = at(path, key);
  const bare = isObject(inside) ? (inside.get('@query') ?? inside) : inside;
  const lambda = isObject(bare) ? reader.lambda(bare, where) : invalid(where, 'Invalid lambda.');
  return EFFECT_RANK[effectOf(lambda)] <= EFFECT_RANK[limit]
    ? lambda
    : invalid(where, 'Invalid lambda.');
}

function readFilter(parts: Parts): Resolve {
  const lambda = lambdaPart(parts, 'filter', 'read');
  const collection = part(parts, 'collection');
  const path = at(parts.path, 'collection');
  return (session) => ({
    kind: 'set',
    op: 'filter',
    set: setIn(settle(collection, session), path),
    lambda,
  });
}

function readJoin(parts: Parts): Resolve {
  const source = part(parts, 'join');
  const target = parts.json.get('with') ?? null;
  const isLambda = isObject(target) && (target.has('lambda') || target.has('@query'));
  const lambda = isLambda ? lambdaPart(parts, 'with', 'pure') : undefined;
  const index = isLambda ? null : part(parts, 'with');
  return (session) => ({
    kind: 'set',
    op: 'join',
    set: setIn(settle(source, session), at(parts.path, 'join')),
    with: lambda ?? refIn(settle(index, session), NATIVE.indexes, at(parts.path, 'with')),
  });
}

function readRange(parts: Parts): Resolve {
  const source = part(parts, 'range');
  const from = parts.json.has('from') ? part(parts, 'from') : [];
  const to = parts.json.has('to') ? part(parts, 'to') : [];
  return (session) => ({
    kind: 'set',
    op: 'range',
    set: setIn(settle(source, session), at(parts.path, 'range')),
    from: listOf(settle(from, session)),
    to: listOf(settle(to, session)),
  });
}
