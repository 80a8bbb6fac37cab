import { expect, test } from 'vitest';
import type { Key } from '../../codec/key.ts';
import { Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Entry, Range } from '../../store/port.ts';
import { Meters } from '../context/meters.ts';
import { RangeScan } from './range-scan.ts';

const LOWER = 'a' as Key;
const UPPER = 'z' as Key;
const REQUEST = {
  past: undefined,
  backward: false,
  lower: [],
  upper: [],
  first: 64,
  rows: false,
  sources: false,
  filtered: false,
  tupleWork: 0,
};

/** A scan over `count` entries, which are all the same entry. */
function scanOver(count: number) {
  const limits: number[] = [];
  const entry: Entry = { entry: 'b' as Key, key: 'k' as Key, row: undefined };
  let left = count;
  const range = ({ limit }: Range): readonly Entry[] => {
    limits.push(limit);
    const found = Math.min(limit, left);
    left -= found;
    return Array.from({ length: found }, () => entry);
  };
  const meters = new Meters({ spend: () => undefined, isSpent: false });
  const reader = { row: () => undefined, range };
  const source = { reader, meters, partitions: 8 };
  const scanRange = {
    space: 'documents',
    by: 'entry',
    rows: false,
    lower: LOWER,
    upper: UPPER,
  } as const;
  const scan = new RangeScan<Entry>(
    source,
    scanRange,
    REQUEST,
    () => LOWER,
    (each) => each,
  );
  const readAll = () => {
    let seen = 0;
    for (let batch = scan.pull(); batch.length > 0; batch = scan.pull()) seen += batch.length;
    return seen;
  };
  return { readAll, limits, meters };
}

test('RangeScan reads growing batches, and ends at an incomplete one', () => {
  const { readAll, limits, meters } = scanOver(64 + 512 + 100);
  expect(readAll()).toBe(676);
  expect(limits).toEqual([64, 512, 4096]);
  expect(meters.work.scannedEntries).toBe(676);
});

test('RangeScan charges the partitions of an index once, with its first batch', () => {
  const { readAll, meters } = scanOver(100);
  readAll();
  expect(meters.readOps).toBe(8 + 1);
});

test('RangeScan reads a million entries, and refuses to read more', () => {
  expect(scanOver(LIMITS.scanMax).readAll()).toBe(LIMITS.scanMax);
  expect(() => scanOver(LIMITS.scanMax + 1).readAll()).toThrow(Refusal);
});
