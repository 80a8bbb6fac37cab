import { expect, test } from 'vitest';
import { typeName } from './type-name.ts';
import {
  Action,
  Bytes,
  DateValue,
  Double,
  PENDING,
  Ref,
  Time,
  UnresolvedRef,
  Uuid,
  type Value,
} from './value.ts';
import { NATIVE } from './native-kinds.ts';

const ref = new Ref(0, 1024, 1n);

test('typeName() returns the type names of error messages', () => {
  const cases: readonly (readonly [Value, string])[] = [
    [null, 'Null'],
    [true, 'Boolean'],
    [1, 'Integer'],
    [2n ** 60n, 'Integer'],
    [1.5, 'Double'],
    [Number.NaN, 'Double'],
    [new Double(1), 'Double'],
    ['', 'String'],
    [[], 'Array'],
    [new Map(), 'Object'],
    [new Bytes(Uint8Array.of()), 'Bytes'],
    [new Time(0n), 'Time'],
    [new DateValue(0), 'Date'],
    [new Uuid(''), 'UUID'],
    [ref, 'Ref'],
    [new Ref(0, NATIVE.collections, 1024n), 'Collection Ref'],
    [new Ref(0, NATIVE.indexes, 1n), 'Index Ref'],
    [new Ref(0, NATIVE.databases, 1n), 'Database Ref'],
    [new Ref(0, NATIVE.functions, 1n), 'Function Ref'],
    [new Ref(0, NATIVE.roles, 1n), 'Ref'],
    [new Ref(0, NATIVE.keys, 1n), 'Ref'],
    [new UnresolvedRef('collection', 'x', '{}'), 'Collection Ref'],
    [new UnresolvedRef('role', 'x', '{}'), 'Ref'],
    [{ kind: 'set', op: 'singleton', ref }, 'Set'],
    [{ kind: 'page', before: undefined, after: undefined, data: [], cursors: undefined }, 'Page'],
    [{ kind: 'document', ref, ts: 1, created: false, fields: new Map(), text: '' }, 'Object'],
    [{ kind: 'event', ts: 1, action: 'add', document: ref, data: undefined }, 'Object'],
    [{ kind: 'sourced', value: 1, sources: [] }, 'Object'],
    [new Action('add'), 'Action'],
    [PENDING, 'Unresolved Transaction Time'],
    [
      { kind: 'lambda', pattern: 'x', body: 0, captures: new Map(), apiVersion: '4', wire: '' },
      'Lambda',
    ],
  ];
  for (const [value, name] of cases) expect(typeName(value)).toBe(name);
});
