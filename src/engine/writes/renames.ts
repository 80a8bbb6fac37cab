/**
 * Updates stored text when a schema object is renamed: `@ref` literals in the lambdas of schema objects, and roles of functions and keys
 * given by name. Stored refs contain numbers and do not change. Only the text of an object changes, not its meaning, so the object keeps
 * its version. Spec: values 3; auth 3.1.
 */
import { refOfKey } from '../../codec/key.ts';
import { parseJson, stringifyJson, type Json, type JsonObject } from '../../codec/json.ts';
import { packVersion, unpackVersion } from '../../codec/row.ts';
import { nativeNamed } from '../../query/ref-build.ts';
import type { Row } from '../../store/port.ts';
import { isArray, isKind, isObject, type Ref } from '../../values/value.ts';
import type { Lambda, Value } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { fieldsOf } from '../documents/documents.ts';
import { rowsOf } from '../catalog/native-rows.ts';
import { SCHEMA_KINDS } from '../catalog/schema.ts';
import { parseStoredLambda } from '../catalog/stored-lambdas.ts';
import { bodyOf } from '../documents/stored-values.ts';
import { invalidateSchema } from '../documents/write-version.ts';
import { writerOf } from '../documents/version-rows.ts';
import { type NativeName, nativeName } from '../../values/native-kinds.ts';

export interface Rename {
  readonly kind: NativeName;
  readonly from: string;
  readonly to: string;
}

/** Native collections whose members may contain lambdas (in their `data` too) or names of roles. */
const HOLDERS = [...SCHEMA_KINDS, 'keys'] as const;

/** @param ref the renamed object */
export function followRename(context: EngineContext, ref: Ref, from: string, to: string): void {
  const kind = nativeName(ref.collection);
  if (kind === undefined) return;
  for (const holder of HOLDERS) {
    // Keys contain no lambdas, and there may be many of them.
    if (holder === 'keys' && kind !== 'roles') continue;
    for (const row of rowsOf(context, ref.database, holder))
      followIn(context, row, { kind, from, to });
  }
}

function followIn(context: EngineContext, row: Row, rename: Rename): void {
  const version = unpackVersion(String(row.value));
  // A cheap test before parsing: the text contains the name literally, or with escapes.
  if (!version.body.includes(rename.from) && !version.body.includes('\\')) return;
  const ref = refOfKey(row.key);
  const fields = fieldsOf(context, ref, version);
  const followed = new Map(
    [...fields].map(([name, value]) => [
      name,
      name === 'role' && rename.kind === 'roles'
        ? renamedRole(value, rename)
        : withLambdas(value, (lambda) => renamedLambda(lambda, rename)),
    ]),
  );
  const value = packVersion({ ...version, ...bodyOf(followed, ref.database) });
  if (value === row.value) return;
  writerOf(context).put('documents', { ...row, value });
  invalidateSchema(context, ref);
}

const renamedRole = (value: Value, { from, to }: Rename): Value =>
  isArray(value) ? value.map((each) => (each === from ? to : each)) : value === from ? to : value;

function withLambdas(value: Value, change: (lambda: Lambda) => Lambda): Value {
  if (isArray(value)) return value.map((each) => withLambdas(each, change));
  if (isKind(value, 'lambda')) return change(value);
  if (!isObject(value)) return value;
  return new Map([...value].map(([name, each]) => [name, withLambdas(each, change)]));
}

function renamedLambda(lambda: Lambda, rename: Rename): Lambda {
  const json = parseJson(`{${lambda.wire}}`);
  const text = stringifyJson(renamed(json, rename));
  return text === stringifyJson(json)
    ? lambda
    : parseStoredLambda(text.slice(1, -1), lambda.apiVersion);
}

function renamed(json: Json, rename: Rename): Json {
  if (isArray(json)) return json.map((each) => renamed(each, rename));
  if (!isObject(json)) return json;
  const ref = json.get('@ref') ?? null;
  if (typeof ref === 'string') return new Map(json).set('@ref', renamedPath(ref, rename));
  const members = new Map<string, Json>();
  for (const [name, each] of json) members.set(name, renamed(each, rename));
  if (isObject(ref) && isNamed(ref, rename)) {
    const inside = renamed(ref, rename) as JsonObject;
    members.set('@ref', new Map(inside).set('id', rename.to));
  }
  return members;
}

/**
 * Whether the contents of a ref denote the renamed object of this database: `{"id":"posts","collection":{"@ref":{"id":"collections"}}}`.
 */
function isNamed(ref: JsonObject, { kind, from }: Rename): boolean {
  if (ref.get('id') !== from || ref.has('database')) return false;
  const holder = ref.get('collection') ?? ref.get('class') ?? null;
  const native = isObject(holder) ? (holder.get('@ref') ?? null) : null;
  if (typeof native === 'string') return nativeNamed(native) === kind;
  if (!isObject(native) || native.has('database') || native.has('collection')) return false;
  const id = native.get('id');
  return typeof id === 'string' && nativeNamed(id) === kind;
}

/** Renames the object in a ref in path form: `classes/posts/12`. */
function renamedPath(path: string, { kind, from, to }: Rename): string {
  const [first = '', second, ...rest] = path.split('/');
  return nativeNamed(first) === kind && second === from ? [first, to, ...rest].join('/') : path;
}
