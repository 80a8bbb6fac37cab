import { expect, test } from 'vitest';
import { changeKey } from '../../../engine/transactions.ts';
import type { CommitNotice } from '../../../engine/host.ts';
import { RecentChanges } from './recent-changes.ts';

const row = (ts: number, value: string, database = 1) => ({
  key: changeKey(database, ts),
  entries: [],
  value,
});

const commit = (previous: number, ts: number, ...values: string[]): CommitNotice => ({
  previous,
  ts,
  rows: [],
  entries: [],
  logged: values.map((value, i) => row(ts, value, i + 1)),
});

const valuesOf = (rows: readonly { readonly value: unknown }[] | undefined) =>
  rows?.map(({ value }) => value);

test('between() returns the changes of one database between two commits', () => {
  const recent = new RecentChanges();
  recent.onCommit(commit(10, 20, 'a', 'other'));
  recent.onCommit(commit(20, 30, 'b'));
  recent.onCommit(commit(30, 40));
  expect(valuesOf(recent.between(1, 10, 40))).toEqual(['a', 'b']);
  expect(valuesOf(recent.between(1, 20, 30))).toEqual(['b']);
  expect(valuesOf(recent.between(2, 10, 20))).toEqual(['other']);
  expect(valuesOf(recent.between(3, 30, 40))).toEqual([]);
});

test('between() returns undefined for commits before the first and after the last one that it knows', () => {
  const recent = new RecentChanges();
  expect(recent.between(1, 0, 0)).toBeUndefined();
  recent.onCommit(commit(10, 20, 'a'));
  expect(recent.between(1, 9, 20)).toBeUndefined();
  expect(recent.between(1, 10, 21)).toBeUndefined();
});

test('onCommit() starts again after a missed commit and after a commit of another process', () => {
  const recent = new RecentChanges();
  recent.onCommit(commit(10, 20, 'a'));
  recent.onCommit(commit(25, 30, 'b'));
  expect(recent.between(1, 20, 30)).toBeUndefined();
  expect(valuesOf(recent.between(1, 25, 30))).toEqual(['b']);
  const { logged: _, ...foreign } = commit(30, 40);
  recent.onCommit(foreign);
  expect(recent.between(1, 25, 40)).toBeUndefined();
  recent.onCommit(commit(40, 50, 'c'));
  expect(valuesOf(recent.between(1, 40, 50))).toEqual(['c']);
});

test('onCommit() drops the oldest changes: their number and size are bounded', () => {
  const recent = new RecentChanges();
  for (let ts = 1; ts <= 300; ts++) recent.onCommit(commit(ts - 1, ts, `${ts}`));
  expect(recent.between(1, 43, 300)).toBeUndefined();
  expect(recent.between(1, 44, 300)).toHaveLength(256);
  const large = 'x'.repeat(600_000);
  recent.onCommit(commit(300, 301, large));
  recent.onCommit(commit(301, 302, large));
  expect(recent.between(1, 300, 302)).toBeUndefined();
  expect(recent.between(1, 301, 302)).toHaveLength(1);
});
