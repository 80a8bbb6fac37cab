/** A document while it is checked before it is written, and the checks that many kinds share. Spec: functions 3.3. */
import { described, type FaultText, type FieldFailure, type Step } from '../../errors.ts';
import { invalidType } from '../../fault-texts.ts';
import { LIMITS } from '../../limits.ts';
import { typeName } from '../../values/type-name.ts';
import { isArray, isInteger, isKind, isObject } from '../../values/value.ts';
import type { ObjectValue, Ref, Value } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';

export type WriteMode = 'create' | 'update' | 'replace' | 'insert';

export interface Draft {
  readonly context: EngineContext;
  /** Of the document being written. */
  readonly ref: Ref;
  readonly mode: WriteMode;
  /** Stored members of the version before. */
  readonly previous: ObjectValue | undefined;
  /** As given, nulls included. */
  readonly params: ObjectValue;
  /** What will be stored: checks may fill in and take out. */
  readonly fields: Map<string, Value>;
  readonly failures: FieldFailure[];
  /** Shown in the result of this write and never again. */
  readonly extras: Map<string, Value>;
}

/** What one native collection, or user documents, store. */
export interface Kind {
  /** Members taken from params; others are dropped. */
  readonly accepts: readonly string[];
  /** A member that is nearly one of these is refused, not dropped. */
  readonly refusesMisspelt?: true;
  /** Every stored member, in the order shown. */
  readonly order: readonly string[];
  /** What `replace` starts from. */
  readonly kept: readonly string[];
  /** Refuses, fills in, takes out. May suspend. */
  readonly check: (draft: Draft) => void;
  /** Stored, but left out of the result of a write. */
  readonly hidden?: readonly string[];
  /** @throws what refuses the making of any such document here */
  readonly requirePossible?: (context: EngineContext, position: readonly Step[]) => void;
  /** Before a checked version is put. @throws when it clashes with another document */
  readonly beforeWrite?: (draft: Draft, position: readonly Step[]) => void;
  /** What a version that was put brings with it. */
  readonly afterWrite?: (draft: Draft) => void;
  /** What goes with it. @throws when it is needed */
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

/** Unless the member stays as it was stored: what it names may have been deleted since. */
export function refuseReference(draft: Draft, field: readonly Step[]): void {
  if (!draft.params.has(String(field[0]))) return;
  refuse(draft, field, 'invalid reference', 'Reference was not found.');
}

/** The member, unless it is missing or of another type, which is refused. */
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

/** The member, if it is there; one of another type is refused. */
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

/** Word characters of any script, and some marks. Spec: values 12. */
const NAME = /^(?:[\p{Alphabetic}\p{Nd}\p{Pc};@+$\-.!~%]|\p{M}|\p{Join_Control})+$/u;

const codePoints = (text: string): number => Array.from(text).length;

export function checkName(draft: Draft, reserved: readonly string[] = ['_']): void {
  const name = required(draft, 'name', 'String', isString);
  if (name === undefined) return;
  if (reserved.includes(name)) {
    refuse(draft, ['name'], 'reserved name', `The name '${name}' is reserved.`);
  } else if (!NAME.test(name)) {
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

/** One or an array of them, each with its path. */
export const eachOf = (value: Value, field: readonly Step[]): readonly [Value, readonly Step[]][] =>
  isArray(value) ? value.map((each, i) => [each, [...field, i]]) : [[value, field]];
