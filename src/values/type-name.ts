/** Names of types for error texts. Spec: values 2, functions 0. */
import { unreachable } from '../errors.ts';
import { isArray, isDouble, isInteger, isKinded, type Ref, type Value } from './value.ts';
import { NATIVE_KINDS, nativeKind } from './native-kinds.ts';

export function typeName(value: Value): string {
  if (value === null) return 'Null';
  if (typeof value === 'string') return 'String';
  if (typeof value === 'boolean') return 'Boolean';
  if (isInteger(value)) return 'Integer';
  if (isDouble(value)) return 'Double';
  if (isArray(value)) return 'Array';
  if (!isKinded(value)) return 'Object';
  switch (value.kind) {
    case 'bytes':
      return 'Bytes';
    case 'time':
      return 'Time';
    case 'date':
      return 'Date';
    case 'uuid':
      return 'UUID';
    case 'ref':
      return refTypeName(value);
    case 'unresolved':
      return REF_TYPES_BY_SINGULAR.get(value.what) ?? 'Ref';
    case 'set':
      return 'Set';
    case 'lambda':
      return 'Lambda';
    case 'page':
      return 'Page';
    case 'document':
    case 'event':
    case 'sourced':
      return 'Object';
    case 'action':
      return 'Action';
    case 'pending':
      return 'Unresolved Transaction Time';
    default:
      return unreachable(value);
  }
}

const refTypeName = (ref: Ref): string => nativeKind(ref.collection)?.refType ?? 'Ref';

/** The type of an unresolved ref, by its `what`. */
const REF_TYPES_BY_SINGULAR: ReadonlyMap<string, string> = new Map(
  Object.values(NATIVE_KINDS).map(({ singular, refType }) => [singular, refType]),
);
