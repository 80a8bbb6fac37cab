/** The functions `is_*`. Spec: functions 1.12, values 2. */
import {
  isArray,
  isDouble,
  isInteger,
  isKind,
  isKinded,
  isNumber,
  isObject,
  Ref,
  type Kinded,
  type Value,
} from '../../values/value.ts';
import { any, param } from '../casts.ts';
import { COVERED } from '../costs.ts';
import { define } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import { NATIVE, type NativeName } from '../../values/native-kinds.ts';
import { isNativeCollectionRef } from '../../values/native-refs.ts';

const isOfKind =
  (...kinds: readonly Kinded['kind'][]) =>
  (value: Value): boolean =>
    isKinded(value) && kinds.includes(value.kind);

/** Whether the value is a resolved ref to a member of this native collection, or such a document. */
const isMemberOf =
  (name: NativeName) =>
  (value: Value): boolean => {
    const ref = isKind(value, 'document') ? value.ref : value;
    return ref instanceof Ref && ref.collection === NATIVE[name];
  };

const isPlainObject = (value: Value): boolean =>
  isObject(value) || isOfKind('document', 'page', 'event', 'sourced')(value);

const CHECKS: Readonly<Record<string, (value: Value) => boolean>> = {
  is_number: isNumber,
  is_double: isDouble,
  is_integer: isInteger,
  is_boolean: (value) => typeof value === 'boolean',
  is_null: (value) => value === null,
  is_bytes: isOfKind('bytes'),
  is_timestamp: isOfKind('time'),
  is_date: isOfKind('date'),
  is_uuid: isOfKind('uuid'),
  is_string: (value) => typeof value === 'string' || isKind(value, 'action'),
  is_array: isArray,
  is_object: isPlainObject,
  is_ref: isOfKind('ref', 'unresolved'),
  is_set: (value) => isKind(value, 'set') || isNativeCollectionRef(value),
  is_doc: isOfKind('ref', 'document'),
  is_lambda: isOfKind('lambda'),
  is_collection: isMemberOf('collections'),
  is_database: isMemberOf('databases'),
  is_index: isMemberOf('indexes'),
  is_function: isMemberOf('functions'),
  is_key: isMemberOf('keys'),
  is_token: isMemberOf('tokens'),
  is_credentials: isMemberOf('credentials'),
  is_role: isMemberOf('roles'),
};

export const typeCheckRows: readonly FunctionRow[] = Object.entries(CHECKS).map(([name, holds]) =>
  define('pure', { [name]: param(any, 'Any') }, COVERED, (args) => holds(args[name] ?? null)),
);
