import { expect, test } from 'vitest';
import { entryKey } from '../../codec/key.ts';
import { Ref } from '../../values/value.ts';
import { isNativeEntry, nativeEntries } from './native-indexes.ts';
import { NATIVE } from '../../values/native-kinds.ts';

const hex = (key: string): string => Buffer.from(key, 'latin1').toString('hex');

test('nativeEntries() still makes the same bytes', () => {
  const token = new Ref(7, NATIVE.tokens, 101n);
  const instance = new Ref(7, 1024, 5n);
  const entries = nativeEntries(token, new Map([['instance', instance]]), 9);
  expect(entries.map((each) => hex(each).slice(0, 16))).toEqual([
    '0000000000000002',
    '0000000700000003',
    '0000000000000007',
  ]);
  expect(entries.every(isNativeEntry)).toBe(true);
  const database = new Ref(7, NATIVE.databases, 12n);
  const found = nativeEntries(database, new Map([['name', 'inner']]), undefined);
  expect(found.map((each) => hex(each).slice(0, 16))).toEqual([
    '0000000000000005',
    '0000000700000006',
  ]);
});

test('isNativeEntry() is false for entries of user indexes', () => {
  const ref = new Ref(7, 1024, 1n);
  const parts = { database: 7, terms: [], values: [], reverse: [], ref };
  expect(isNativeEntry(entryKey({ ...parts, index: 32_768 }))).toBe(false);
  expect(isNativeEntry(entryKey({ ...parts, index: 7 }))).toBe(true);
});
