/** `@set` literals. Their parts are data, in which no expression is evaluated. Spec: values 5. */
import { undefinedRef } from '../fault-texts.ts';
import type { Json, JsonObject } from '../codec/json.ts';
import { EFFECT_RANK, type Effect } from './effect.ts';
import { at, type QueryPath } from './query-path.ts';
import type { LiteralSession } from './node.ts';
import type { PartKind } from '../values/set-parts.ts';
import { isSetOp, setOfParts, wirePartsOfOp, type NamedParts } from '../values/sets.ts';
import { asArray, isKind, isObject, Ref, UnresolvedRef } from '../values/value.ts';
import type { Lambda, SetValue, Value } from '../values/value.ts';
import { nativeSet } from './casts.ts';
import { hasCompatibleMembers } from './compatible-sets.ts';
import { effectOf } from './lambda-value.ts';
import { Deferred, invalid, settle, type LiteralReader } from './literal.ts';
import { NATIVE } from '../values/native-kinds.ts';
import { isNativeCollectionRef } from '../values/native-refs.ts';

/** One part of a `@set` literal. */
interface GivenPart {
  readonly json: Json | undefined;
  readonly path: QueryPath;
  /** Path of the whole set. */
  readonly setPath: QueryPath;
  readonly reader: LiteralReader;
}
type Resolve = (session: LiteralSession) => Value;

const READ: Readonly<Record<PartKind, (part: GivenPart) => Resolve>> = {
  ref: (part) => readRef(part, undefined),
  collection: (part) => readRef(part, NATIVE.collections),
  index: readExistingIndex,
  set: readInnerSet,
  source: readSource,
  members: readMembers,
  terms: readList,
  bound: readList,
  predicate: (part) => readLambda(part, 'read'),
  target: readTarget,
};

/** Reads the content of `{"@set":…}`. */
export function readSet(json: Json, path: QueryPath, reader: LiteralReader): Deferred {
  const op = isObject(json) ? [...json.keys()].find(isSetOp) : undefined;
  const parts = op ? wirePartsOfOp(op) : [];
  if (!op || !isObject(json) || !areParts(json, parts)) return invalidPart(path);
  const reads = parts.map(([name, { kind, wire }]) => {
    const part = { json: json.get(wire), path: at(path, wire), setPath: path, reader };
    return [name, READ[kind](part)] as const;
  });
  return new Deferred((session) => {
    const read = new Map(reads.map(([name, resolve]) => [name, resolve(session)]));
    const set = setOfParts(op, (name) => read.get(name));
    return set && hasCompatibleMembers(set, session) ? set : invalidPart(path);
  });
}

/** Whether the object has all required parts and no other members. */
const areParts = (json: JsonObject, parts: NamedParts): boolean =>
  parts.filter(([, { wire }]) => json.has(wire)).length === json.size &&
  parts.every(([, { kind, wire }]) => json.has(wire) || kind === 'terms' || kind === 'bound');

const invalidPart = (path: QueryPath): never => invalid(path, 'Invalid set.');

function refIn(value: Value, collection: number | undefined, path: QueryPath): Ref {
  if (value instanceof Ref && (collection === undefined || value.collection === collection)) {
    return value;
  }
  return value instanceof UnresolvedRef ? unresolved(value, path) : invalidPart(path);
}

const unresolved = (value: UnresolvedRef, path: QueryPath): never =>
  invalid(path, undefinedRef(value.what, value.name));

function setIn(value: Value, path: QueryPath): SetValue {
  if (isKind(value, 'set')) return value;
  if (isNativeCollectionRef(value)) return nativeSet(value);
  return value instanceof UnresolvedRef ? unresolved(value, path) : invalidPart(path);
}

function readData({ json = null, path, reader }: GivenPart): Resolve {
  const literal = reader.data(json, path);
  return (session) => settle(literal, session);
}

function readRef(part: GivenPart, collection: number | undefined): Resolve {
  const data = readData(part);
  return (session) => refIn(data(session), collection, part.path);
}

function readExistingIndex(part: GivenPart): Resolve {
  const data = readData(part);
  return (session) =>
    session.requireIndex(refIn(data(session), NATIVE.indexes, part.path), part.setPath);
}

function readInnerSet(part: GivenPart): Resolve {
  const data = readData(part);
  return (session) => setIn(data(session), part.path);
}

function readMembers(part: GivenPart): Resolve {
  const data = readData(part);
  return (session) => {
    const sets = asArray(data(session)).map((value) => setIn(value, part.path));
    return sets.length > 0 ? sets : invalidPart(part.path);
  };
}

function readList(part: GivenPart): Resolve {
  if (part.json === undefined) return () => [];
  const data = readData(part);
  return (session) => asArray(data(session));
}

/** Reads the part of `events`: a set is written there without its `@set`. */
function readSource(part: GivenPart): Resolve {
  const { json = null, path, reader } = part;
  const isBare = isObject(json) && !json.has('@ref') && !json.has('@set');
  const literal = isBare ? readSet(json, path, reader) : reader.data(json, path);
  return (session) => {
    const value = settle(literal, session);
    return isKind(value, 'set') ? value : refIn(value, undefined, path);
  };
}

/** Reads a lambda. Inside a set it is usually written without `@query`. */
function readLambda({ json, path, reader }: GivenPart, limit: Effect): () => Lambda {
  const bare = json !== undefined && isObject(json) ? (json.get('@query') ?? json) : json;
  const lambda =
    bare !== undefined && isObject(bare) ? reader.lambda(bare, path) : invalidLambda(path);
  return EFFECT_RANK[effectOf(lambda)] <= EFFECT_RANK[limit] ? () => lambda : invalidLambda(path);
}

const invalidLambda = (path: QueryPath): never => invalid(path, 'Invalid lambda.');

/** Reads the target of a join: a lambda or the ref of an index. */
function readTarget(part: GivenPart): Resolve {
  const { json = null } = part;
  const isLambda = isObject(json) && (json.has('lambda') || json.has('@query'));
  return isLambda ? readLambda(part, 'pure') : readRef(part, NATIVE.indexes);
}
