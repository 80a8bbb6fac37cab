import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { documentKeyOf } from '../codec/key.ts';
import { isInRange } from '../codec/ranges.ts';
import type { CommitNotice, ReadSet } from '../engine/host.ts';
import { Changes } from './changes.ts';
import { anyNotice, anyReads } from './testing/changes-arbitrary.ts';

/** A plain implementation: compares each key with each read. */
function isTouched({ rows: changed, entries }: CommitNotice, { rows, ranges }: ReadSet): boolean {
  const documents = changed
    .filter(({ space }) => space === 'history')
    .map(({ key }) => ({ space: 'documents' as const, key: documentKeyOf(key) }));
  const all = [...changed, ...documents];
  const isChanged = (row: ReadSet['rows'][number]) =>
    all.some(({ space, key }) => space === row.space && key === row.key);
  const isEntered = (range: ReadSet['ranges'][number]) =>
    (range.by === 'key' ? all : entries).some(
      ({ space, key }) => space === range.space && isInRange(key, range),
    );
  return rows.some(isChanged) || ranges.some(isEntered);
}

test('Changes touches a read set if one of its commits does', () => {
  fc.assert(
    fc.property(anyReads, fc.array(anyNotice, { maxLength: 3 }), (readSet, notices) => {
      const expected = notices.some((each) => isTouched(each, readSet));
      expect(new Changes(notices).touches(readSet)).toBe(expected);
      expect(new Changes(undefined).touches(readSet)).toBe(true);
    }),
    { numRuns: 3000 },
  );
});
