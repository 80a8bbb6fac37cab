/** A document that is being validated before it is written, and the checks that several kinds share. Spec: functions 3.3. */
import { described, type FaultText, type FieldFailure, type Step } from '../../errors.ts';
import { invalidType } from '../../fault-texts.ts';
import { LIMITS } from '../../limits.ts';
import { typeName } from '../../values/type-name.ts';
import { isArray, isInteger, isKind, isObject } from '../../values/value.ts';
import type { ObjectValue, Ref, Value } from '../../values/value.ts';
import { hasLater } from '../../query/unicode.ts';
import type { EngineContext } from '../context/context.ts';

export type WriteMode = 'create' | 'update' | 'replace' | 'insert';

export interface Draft {
  readonly context: EngineContext;
  /** The ref of the document that is written. */
  readonly ref: Ref;
  readonly mode: WriteMode;
  /** The stored fields of the previous version. */
  readonly previous: ObjectValue | undefined;
  /** The params as given, including nulls. */
  readonly params: ObjectValue;
  /** The fields that will be stored. Checks may add and remove fields. */
  readonly fields: Map<string, Value>;
  readonly failures: FieldFailure[];
  /** Fields that are shown only in the result of this write, such as the secret of a key. */
  readonly extras: Map<string, Value>;
}

/** Validation rules of one native collection, or of user documents. */
export interface Kind {
  /** Fields accepted from params. Others are dropped. */
  readonly accepts: readonly string[];
  /** An unknown field whose name is similar to a known one is refused instead of dropped. */
  readonly refusesMisspelt?: true;
  /** All stored fields, in the order in which they are shown. */
  readonly order: readonly string[];
  /** Fields that `replace` keeps. */
  readonly kept: readonly string[];
  /** Validates the draft: records failures, adds and removes fields. May throw `Suspended`. */
  readonly check: (draft: Draft) => void;
  /** Fields that are stored but left out of the result of a write. */
  readonly hidden?: readonly string[];
  /** @throws QueryFailure if no document of this kind can be created in this database */
  readonly requireCreatable?: (context: EngineContext, position: readonly Step[]) => void;
  /** Runs before a validated version is written. @throws QueryFailure when it clashes with another document */
  readonly beforeWrite?: (draft: Draft, position: readonly Step[]) => void;
  /** Runs after a version was written, for effects on other documents. */
  readonly afterWrite?: (draft: Draft) => void;
  /** Runs before a document is deleted, and deletes what depends on it. @throws QueryFailure when the document is still needed */
  readonly beforeDelete?: (context: EngineContext, ref: Ref, position: readonly Step[]) => void;
}

export function refuse(
  { failures }: Pick<Draft, 'failures'>,
  field: readonly Step[],
  code: string,
  text: FaultText,
): void {
  failures.push({ field: field.map(String), code, ...described(text) });
}

export const refuseMissing = (draft: Draft, field: readonly Step[]): void =>
  refuse(draft, field, 'value required', 'Value is required.');

export const refuseType = (
  draft: Draft,
  field: readonly Step[],
  value: Value,
  expected: string,
): void => refuse(draft, field, 'invalid type', invalidType(typeName(value), expected));

/** Reports a missing reference, unless the field keeps its stored value: objects that it refers to may have been deleted since. */
export function refuseReference(draft: Draft, field: readonly Step[]): void {
  if (!draft.params.has(String(field[0]))) return;
  refuse(draft, field, 'invalid reference', 'Reference was not found.');
}

/** The field, if it exists and has the right type. Otherwise a failure is recorded. */
export function required<T extends Value>(
  draft: Draft,
  name: string,
  expected: string,
  is: (value: Value) => value is T,
): T | undefined {
  if (draft.fields.has(name)) return optional(draft, name, expected, is);
  refuseMissing(draft, [name]);
  return undefined;
}

/** The field, if it exists. A failure is recorded if it has the wrong type. */
export function optional<T extends Value>(
  draft: Draft,
  name: string,
  expected: string,
  is: (value: Value) => value is T,
): T | undefined {
  const value = draft.fields.get(name);
  if (value === undefined) return undefined;
  if (is(value)) return value;
  refuseType(draft, [name], value, expected);
  return undefined;
}

export const isString = (value: Value): value is string => typeof value === 'string';
export const isBoolean = (value: Value): value is boolean => typeof value === 'boolean';
export const isTime = (value: Value) => isKind(value, 'time');
export const isLambda = (value: Value) => isKind(value, 'lambda');

/** Word characters of any script, and some punctuation. Spec: values 12. */
const NAME = /^(?:[\p{Alphabetic}\p{Nd}\p{Pc};@+$\-.!~%]|\p{M}|\p{Join_Control})+$/u;

const codePoints = (text: string): number => Array.from(text).length;

export function checkName(draft: Draft, reserved: readonly string[] = ['_']): void {
  const name = required(draft, 'name', 'String', isString);
  if (name === undefined) return;
  if (reserved.includes(name)) {
    refuse(draft, ['name'], 'reserved name', `The name '${name}' is reserved.`);
  } else if (!NAME.test(name) || hasLater(name)) {
    refuse(draft, ['name'], 'invalid characters', `Invalid character found in name '${name}'.`);
  } else if (codePoints(name) > LIMITS.nameChars) {
    refuse(draft, ['name'], 'bounds error', `Name exceeds ${LIMITS.nameChars} characters.`);
  }
}

export const checkData = (draft: Draft): void => {
  optional(draft, 'data', 'Map', isObject);
};

export const checkTtl = (draft: Draft): void => {
  optional(draft, 'ttl', 'Time', isTime);
};

export function checkInteger(draft: Draft, name: string): number | undefined {
  const value = optional(draft, name, 'Integer', isInteger);
  return value === undefined ? undefined : Number(value);
}

/** The elements of a field that holds one value or an array, each with its path. */
export const eachOf = (value: Value, field: readonly Step[]): readonly [Value, readonly Step[]][] =>
  isArray(value) ? value.map((each, i) => [each, [...field, i]]) : [[value, field]];
