/** Every store must behave like a sorted list of rows. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Entry, Range, Row, WriteSet } from './port.ts';
import { write, at, order, key, type Fresh } from './testing/store-rows.ts';

export function behavesLikeAModel(fresh: Fresh): void {
  test('a store behaves like a sorted list of rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCommit, { maxLength: 12 }),
        fc.array(anyRange, { maxLength: 12 }),
        async (commits, ranges) => {
          const store = await fresh();
          let model: readonly Row[] = [];
          for (const commit of commits) {
            await write(store, commit);
            model = modelWith(model, commit);
          }
          const found = await store.read((tx) => tx.fetch([], ranges));
          expect(found.ranges).toEqual(ranges.map((range) => modelRange(model, range)));
          await store.close();
        },
      ),
      { numRuns: 60 },
    );
  });
}

const anyKey = fc
  .string({ unit: fc.constantFrom('\0', '\x01', 'a', 'b', '\xff'), minLength: 1, maxLength: 3 })
  .map(key);
const anyRow: fc.Arbitrary<Row> = fc.record({
  key: anyKey,
  entries: fc.uniqueArray(anyKey, { maxLength: 4 }),
  value: fc.string({ maxLength: 3 }),
});
const anyCommit: fc.Arbitrary<WriteSet> = fc
  .record({
    rows: fc.uniqueArray(anyRow, { selector: (each) => each.key, maxLength: 6 }),
    gone: fc.uniqueArray(anyKey, { maxLength: 2 }),
  })
  .map(({ rows, gone }) => ({
    puts: rows.map((each) => ({ space: 'documents', row: each })),
    deletes: gone.filter((each) => !rows.some((put) => put.key === each)).map((each) => at(each)),
  }));
const anyRange: fc.Arbitrary<Range> = fc.record({
  space: fc.constant('documents'),
  by: fc.constantFrom('key', 'entry'),
  lower: fc.oneof(fc.constant(key('')), anyKey),
  upper: fc.oneof(fc.constant(key('\xff\xff\xff\xff')), anyKey),
  reverse: fc.boolean(),
  limit: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constant(1000)),
  rows: fc.boolean(),
});

function modelWith(model: readonly Row[], { puts, deletes }: WriteSet): readonly Row[] {
  const gone = new Set([...deletes.map((each) => each.key), ...puts.map((each) => each.row.key)]);
  return [...model.filter((each) => !gone.has(each.key)), ...puts.map((each) => each.row)];
}

function modelRange(
  model: readonly Row[],
  { by, lower, upper, reverse, limit, rows }: Range,
): Entry[] {
  const all = model.flatMap((each) =>
    (by === 'key' ? [each.key] : each.entries).map((entry) => ({
      entry,
      key: each.key,
      row: rows ? each : undefined,
    })),
  );
  all.sort((a, b) => order(a.entry, b.entry) || order(a.key, b.key));
  if (reverse) all.reverse();
  return all.filter(({ entry }) => entry >= lower && entry < upper).slice(0, limit);
}
