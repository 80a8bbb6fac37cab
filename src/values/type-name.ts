/** Names of types as error texts have them. Spec: values 2, functions 0. */
import { unreachable } from '../errors.ts';
import { isArray, isDouble, isInteger, isKinded, NATIVE, type Ref, type Value } from './value.ts';

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
      return REF_NAMES_BY_KIND[value.what];
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

// Role refs and the rest have no name of their own.
const REF_NAMES: Readonly<Record<number, string>> = {
  [NATIVE.collections]: 'Collection Ref',
  [NATIVE.databases]: 'Database Ref',
  [NATIVE.indexes]: 'Index Ref',
  [NATIVE.functions]: 'Function Ref',
};
const REF_NAMES_BY_KIND = {
  collection: 'Collection Ref',
  database: 'Database Ref',
  index: 'Index Ref',
  function: 'Function Ref',
  role: 'Ref',
  access_provider: 'Ref',
  key: 'Ref',
} as const;

const refTypeName = (ref: Ref): string => REF_NAMES[ref.collection] ?? 'Ref';
