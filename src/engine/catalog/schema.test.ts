import { expect, test } from 'vitest';
import { packVersion } from '../../codec/row.ts';
import { documentKey } from '../../codec/key.ts';
import type { Entry, Range } from '../../store/port.ts';
import { Suspended, type Reader } from '../../store/reader.ts';
import { Schema } from './schema.ts';
import { NATIVE } from '../../values/native-kinds.ts';

function collection(id: number, name: string): Entry {
  const key = documentKey(7, NATIVE.collections, BigInt(id));
  const body = JSON.stringify({ history_days: 30, name });
  const parts = { ts: 1, action: 'create', ttl: undefined, added: undefined, plain: true } as const;
  return { entry: key, key, row: { key, entries: [], value: packVersion({ ...parts, body }) } };
}

const readerOf = (entries: readonly Entry[]): Reader => ({
  row: () => undefined,
  range: ({ lower, upper, limit }: Range) =>
    entries.filter(({ key }) => key >= lower && key < upper).slice(0, limit),
});

test('schema objects are found by name as before the query, and by id as they are now', () => {
  const before = [collection(1024, 'a'), collection(1025, 'b')];
  const now = [collection(1024, 'z'), collection(1026, 'c')];
  const schema = new Schema(7, readerOf(now), readerOf(before));
  expect(schema.byName('collections', 'a')?.id).toBe(1024);
  expect(schema.byName('collections', 'c')).toBeUndefined();
  expect(schema.collection(1024)?.name).toBe('z');
  expect(schema.collection(1025)).toBeUndefined();
  expect(schema.namedNow('collections', 'c')?.id).toBe(1026);
  expect(schema.collection(NATIVE.keys)?.name).toBe('keys');
  expect(schema.collection(77)).toBeUndefined();
});

test('a schema with more objects than one range returns is read completely', () => {
  const many = Array.from({ length: 10_001 }, (_, i) => collection(1024 + i, `c${i}`));
  const schema = new Schema(7, readerOf(many), readerOf(many));
  expect(schema.all('collections')).toHaveLength(10_001);
  expect(schema.byName('collections', 'c10000')?.id).toBe(11_024);
});

test('the first lookup requests all kinds of schema objects at once, and each row is parsed once', () => {
  const waiting: Reader = {
    row: () => undefined,
    range: (range) => {
      throw new Suspended([{ kind: 'range', range }]);
    },
  };
  const cold = new Schema(7, waiting, waiting);
  let needs: readonly unknown[] = [];
  try {
    cold.collection(1024);
  } catch (reason) {
    if (reason instanceof Suspended) needs = reason.needs;
  }
  expect(needs.length).toBeGreaterThanOrEqual(5);
  const entries = [collection(1024, 'a')];
  const warm = { row: () => undefined, range: () => entries };
  const first = new Schema(7, warm, warm).byName('collections', 'a');
  expect(new Schema(7, warm, warm).byName('collections', 'a')).toBe(first);
});
