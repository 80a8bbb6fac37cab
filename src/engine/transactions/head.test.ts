import { expect, test } from 'vitest';
import { documentKey } from '../../codec/key.ts';
import { commitsSince, headRow, readHead } from './head.ts';

test('commitsSince() returns the commits since a time, or undefined if the head does not list all of them', () => {
  let head = readHead(undefined);
  for (let ts = 1; ts <= 20; ts += 1) {
    const key = documentKey(0, 1024, BigInt(ts));
    const rows = [{ space: 'documents', key, row: 'unknown' }] as const;
    head = readHead(headRow({ previous: ts - 1, ts, rows, entries: [] }, 'a', head.tail));
  }
  const since = (from: number) => commitsSince(from, head)?.map(({ ts }) => ts);
  expect(since(19)).toEqual([20]);
  expect(since(12)).toEqual([13, 14, 15, 16, 17, 18, 19, 20]);
  for (const from of [11, 5, 0, 21]) expect([from, since(from)]).toEqual([from, undefined]);
});
