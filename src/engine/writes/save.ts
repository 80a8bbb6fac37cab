/** Checks the params of a write and writes the version they result in. Permissions are checked by the callers. */
import { fail, type Step } from '../../errors.ts';
import { alreadyExists } from '../../fault-texts.ts';
import { PENDING, isObject } from '../../values/value.ts';
import type { Document, ObjectValue, Ref, Value } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { writeCredentials } from './write-credentials.ts';
import { databaseByName } from '../catalog/databases.ts';
import { documentOf, kindName, shownFields } from '../documents/documents.ts';
import type { Draft, Kind, WriteMode } from './draft.ts';
import { kindOf } from './kinds.ts';
import { refuseMisspelt } from './misspelt.ts';
import { failValidation } from './params.ts';
import { patchedObject } from '../../values/object-changes.ts';
import { followRename } from './renames.ts';
import { SCHEMA_COLLECTIONS } from '../catalog/refs.ts';
import { credentialsGiven, type PasswordChange } from './password-params.ts';
import { writeVersion } from '../documents/write-version.ts';
import { nativeName, isNative } from '../../values/native-kinds.ts';
import { isSchemaKind } from '../catalog/schema.ts';

export interface Change {
  readonly mode: WriteMode;
  readonly ref: Ref;
  /** Plain values, including nulls. */
  readonly params: ObjectValue;
  /** The stored fields of the previous version. */
  readonly previous: ObjectValue | undefined;
}

/** Writes the current version of a document. @throws QueryFailure `validation failed`, `instance not unique` … at `position` */
export function saveDocument(
  context: EngineContext,
  change: Change,
  position: readonly Step[],
): Document {
  const { ref } = change;
  const kind = kindOf(ref.collection);
  const { draft, password } = checkedDraft(context, kind, change, position);
  requireOwnName(context, draft, position);
  kind.beforeWrite?.(draft, position);
  const fields = ordered(draft.fields, kind);
  const version = writeVersion(context, ref, fields, position);
  followOwnRename(context, draft);
  if (password) writeCredentials(context, ref, password, position);
  kind.afterWrite?.(draft);
  const created = change.mode === 'create';
  if (!isNative(ref.collection)) return documentOf(context, ref, version, { created, fields });
  return nativeResult(ref, fields, draft, kind, created);
}

/** Fields of a version for `insert`. They are checked like those of other writes, without effects on other documents. */
export function checkedFields(
  context: EngineContext,
  change: Change,
  position: readonly Step[],
): ObjectValue {
  const kind = kindOf(change.ref.collection);
  return ordered(checkedDraft(context, kind, change, position).draft.fields, kind);
}

function checkedDraft(
  context: EngineContext,
  kind: Kind,
  change: Change,
  position: readonly Step[],
): { readonly draft: Draft; readonly password: PasswordChange | undefined } {
  const draft: Draft = {
    context,
    ...change,
    fields: new Map(startOf(kind, change)),
    failures: [],
    extras: new Map(),
  };
  if (kind.refusesMisspelt)
    refuseMisspelt(draft, change.params, [...kind.accepts, ...kind.order], []);
  kind.check(draft);
  const takesPassword = !isNative(change.ref.collection) && change.mode !== 'insert';
  const password = takesPassword ? credentialsGiven(draft) : undefined;
  if (draft.failures.length > 0) failValidation(draft.failures, position);
  return { draft, password };
}

/** The previous fields, overlaid with the given ones. A field that ends up as an empty object is removed. */
function startOf(kind: Kind, { mode, params, previous }: Change): ObjectValue {
  const given = picked(params, kind.accepts);
  const old = previous ?? NO_FIELDS;
  const start = mode === 'update' ? old : mode === 'replace' ? picked(old, kind.kept) : NO_FIELDS;
  const fields = patchedObject(start, given);
  const isEmpty = (value: Value) => isObject(value) && value.size === 0;
  let hasEmpty = false;
  for (const value of fields.values()) if (isEmpty(value)) hasEmpty = true;
  if (!hasEmpty) return fields;
  return new Map([...fields].filter(([, value]) => !isEmpty(value)));
}

const NO_FIELDS: ObjectValue = new Map();

function picked(fields: ObjectValue, names: readonly string[]): ObjectValue {
  const kept = new Map<string, Value>();
  for (const [name, value] of fields) if (names.includes(name)) kept.set(name, value);
  return kept;
}

function ordered(fields: ObjectValue, kind: Kind): ObjectValue {
  if (fields.size === 1 && kind.order.includes(fields.keys().next().value ?? '')) return fields;
  const inOrder = new Map<string, Value>();
  for (const name of kind.order) {
    const value = fields.get(name);
    if (value !== undefined) inOrder.set(name, value);
  }
  return inOrder;
}

function nativeResult(
  ref: Ref,
  fields: ObjectValue,
  draft: Draft,
  kind: Kind,
  created: boolean,
): Document {
  const shown = new Map(shownFields(draft.context, ref, fields));
  for (const name of kind.hidden ?? []) shown.delete(name);
  for (const [name, value] of draft.extras) shown.set(name, value);
  return { kind: 'document', ref, ts: PENDING, created, fields: shown, text: undefined };
}

/** Requires that the new name of a schema object is free. Names given earlier in this query count as taken. */
function requireOwnName(
  context: EngineContext,
  { ref, fields, previous }: Draft,
  position: readonly Step[],
): void {
  const name = fields.get('name');
  if (!SCHEMA_COLLECTIONS.has(ref.collection) || typeof name !== 'string') return;
  if (name === previous?.get('name')) return;
  if (isNameTaken(context, ref, name)) failExists(ref, position);
}

function followOwnRename(context: EngineContext, { ref, fields, previous }: Draft): void {
  const [from, to] = [previous?.get('name'), fields.get('name')];
  if (!SCHEMA_COLLECTIONS.has(ref.collection) || from === to) return;
  if (typeof from === 'string' && typeof to === 'string') followRename(context, ref, from, to);
}

export const failExists = (ref: Ref, position: readonly Step[]): never =>
  fail('instance already exists', position, alreadyExists(kindName(ref)));

function isNameTaken(context: EngineContext, ref: Ref, name: string): boolean {
  const kind = nativeName(ref.collection);
  return isSchemaKind(kind)
    ? context.schema(ref.database).namedNow(kind, name) !== undefined
    : databaseByName(context.reader, ref.database, name) !== undefined;
}
