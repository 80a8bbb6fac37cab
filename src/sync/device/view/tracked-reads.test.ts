import { expect, test } from 'vitest';
import { at, key, rangeOf } from '../../../store/testing/store-rows.ts';
import { keptReads } from './tracked-reads.ts';

/** As many rows and ranges. */
const readsOf = (rows: number, ranges: number) => ({
  rows: Array.from({ length: rows }, (_, n) => at(String(n))),
  ranges: Array.from({ length: ranges }, (_, n) => rangeOf({ lower: key(String(n)) })),
});

test('keptReads() lists up to 64 reads of rows and ranges together', () => {
  expect(keptReads(readsOf(32, 32))).toEqual(readsOf(32, 32));
  expect(keptReads(readsOf(32, 33))).toBe('all');
  expect(keptReads(readsOf(33, 32))).toBe('all');
});
