/** Plans of merges, without a store. */
import { expect, test } from 'vitest';
import { PACKED_LIMITS } from '../limits.ts';
import type { Run, Table } from '../manifest.ts';
import { mergedInto, pickMerge } from './pick-merge.ts';

let nextId = 1;

/** A table with the keys from `low` to `high`. */
const table = (low: string, high: string, bytes = 1000): Table => ({
  first: (nextId += 10),
  index: 1,
  indexParts: 1,
  items: 2,
  bytes,
  low: { key: low, owner: '' },
  high: { key: high, owner: '' },
});

const run = (level: number, ...tables: readonly Table[]): Run => ({
  level,
  isMerging: false,
  tables,
});

const LIMITS = { ...PACKED_LIMITS, tableBytes: 10_000, runsPerLevel: 2 };

/** A run of tables that are small enough to be merged into one. */
const smallRun = (level: number): Run => run(level, table('b', 'c'), table('d', 'e'));

test('a merge keeps deletions if an older run has keys of its range', () => {
  const [newer, older] = [run(0, table('b', 'd')), run(0, table('c', 'f'))];
  const plan = (...oldest: readonly Run[]) => pickMerge([newer, older, ...oldest], LIMITS);
  expect(plan()).toMatchObject({ target: 1, dropsDeletions: true });
  expect(plan(run(1, table('a', 'b1'), table('g', 'h')))).toMatchObject({ dropsDeletions: false });
  expect(plan(run(1, table('f', 'h', 10_000)))).toMatchObject({ dropsDeletions: false });
  expect(plan(run(1, table('a', 'b', 10_000)))).toMatchObject({ dropsDeletions: false });
  expect(plan(run(1, table('a', 'a1'), table('g', 'h')))).toMatchObject({ dropsDeletions: true });
});

test('a merge of small tables of one run keeps deletions if an older run has keys of their range', () => {
  const plan = (...oldest: readonly Run[]) => pickMerge([smallRun(0), ...oldest], LIMITS);
  expect(plan()).toMatchObject({ target: 0, dropsDeletions: true });
  expect(plan(run(1, table('a', 'z', 10_000)))).toMatchObject({ target: 0, dropsDeletions: false });
  expect(plan(run(1, table('f', 'z', 10_000)))).toMatchObject({ target: 0, dropsDeletions: true });
});

test('tables that are too large for one are not merged with each other', () => {
  const tables = [table('b', 'c', 6000), table('d', 'e', 6000)];
  expect(pickMerge([run(0, ...tables)], LIMITS)).toBeUndefined();
});

test('a merge of one key range leaves its runs in their level until the newer ones are empty', () => {
  const [first, rest, older] = [table('b', 'c'), table('d', 'e'), table('b', 'f')];
  const runs = [run(0, first, rest), run(0, older)];
  const plan = pickMerge(runs, LIMITS);
  const output = table('b', 'f');
  expect(plan && mergedInto(runs, plan, [output])).toEqual([
    { level: 0, isMerging: true, tables: [rest] },
    { level: 0, isMerging: true, tables: [output] },
  ]);
});

test('a merge takes all tables that overlap those it takes, up to the oldest run', () => {
  const inputs = [table('b', 'd'), table('c', 'f'), table('e', 'h')];
  const [newest, middle, oldest] = inputs.map((each) => run(0, each));
  if (!newest || !middle || !oldest) throw new Error('three runs');
  const beside = table('i', 'k');
  const plan = pickMerge(
    [newest, middle, { ...oldest, tables: [...oldest.tables, beside] }],
    LIMITS,
  );
  expect(plan?.inputs.map((tables) => tables.map(({ first }) => first))).toEqual(
    inputs.map(({ first }) => [first]),
  );
});

test('a merge that another tab has overtaken is not carried out', () => {
  const runs = [run(0, table('b', 'd')), run(0, table('c', 'f'))];
  const plan = pickMerge(runs, LIMITS);
  if (!plan) throw new Error('no plan');
  const outputs = [table('b', 'f')];
  const merged = mergedInto(runs, plan, outputs);
  expect(merged).toEqual([{ level: 1, isMerging: false, tables: outputs }]);
  expect(mergedInto(merged ?? [], plan, outputs)).toBeUndefined();
  expect(mergedInto([run(0, table('b', 'd')), ...runs], plan, outputs)).toHaveLength(2);
  expect(mergedInto([...runs, run(0, table('a', 'z'))], plan, outputs)).toBeUndefined();
  const others = [run(0, table('b', 'd')), run(0, table('c', 'f'))];
  expect(mergedInto(others, plan, outputs)).toBeUndefined();
  // Tables that a flush has added to the oldest run stay.
  const [newest, oldest] = runs;
  const added = table('x', 'y');
  const grown = oldest && { ...oldest, tables: [...oldest.tables, added] };
  expect(newest && grown && mergedInto([newest, grown], plan, outputs)).toMatchObject([
    { level: 1, tables: [...outputs, added] },
  ]);
});
