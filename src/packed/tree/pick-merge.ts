/** Picks the tables to merge next. */
import { compareItemKeys, type ItemKey, type Run, type Runs, type Table } from '../manifest.ts';
import type { PackedLimits } from '../limits.ts';

export interface MergePlan {
  /** The runs for which the plan was made. */
  readonly runs: Runs;
  /** For each run the tables that are merged. The resulting tables replace them in the run `target`. */
  readonly inputs: readonly (readonly Table[])[];
  /** Index of the run that receives the merged tables. */
  readonly target: number;
  /** The runs that become one. */
  readonly group: { readonly from: number; readonly to: number };
  /** No older run has keys in the merged range, so deletion markers are dropped. */
  readonly dropsDeletions: boolean;
  /** Number of runs in the merged level. A read has to look at each of them. */
  readonly urgency: number;
}

/** Returns undefined when there is nothing to merge. */
export function pickMerge(runs: Runs, limits: PackedLimits): MergePlan | undefined {
  let most: MergePlan | undefined;
  // Of levels with equally many runs the oldest is picked, because its runs are large.
  for (const level of levelsOf(runs)) {
    const group = groupOf(runs, level, limits.runsPerLevel);
    if (group && lengthOf(level) >= (most?.urgency ?? 0))
      most = planOf(runs, group, lengthOf(level));
  }
  return most ?? smallTables(runs, limits);
}

interface Group {
  readonly from: number;
  readonly to: number;
}

/**
 * If many runs have piled up, at most this many times `runsPerLevel` of them are merged together. With more, the merge
 * would take too long to produce its first table.
 */
const LEVELS_AT_ONCE = 2;

const lengthOf = ({ from, to }: Group): number => to - from + 1;

/** Groups of adjacent runs with the same level. */
function levelsOf(runs: Runs): readonly Group[] {
  const levels: Group[] = [];
  for (const [at, { level }] of runs.entries()) {
    const last = levels.at(-1);
    if (last && runs[last.to]?.level === level) levels[levels.length - 1] = { ...last, to: at };
    else levels.push({ from: at, to: at });
  }
  return levels;
}

/** The runs of a level that are being merged already. Otherwise its oldest runs, if there are enough to start a merge. */
function groupOf(runs: Runs, { from, to }: Group, runsPerLevel: number): Group | undefined {
  const isMerging = runs.slice(from, to + 1).map((run) => run.isMerging);
  const running = { from: from + isMerging.indexOf(true), to: from + isMerging.lastIndexOf(true) };
  if (running.from < running.to) return running;
  if (to - from + 1 < runsPerLevel) return undefined;
  return { from: Math.max(from, to + 1 - LEVELS_AT_ONCE * runsPerLevel), to };
}

/**
 * Merges the first table of the newest run with the tables that it overlaps in older runs, and with those that these
 * overlap in turn.
 */
function planOf(runs: Runs, group: Group, urgency: number): MergePlan {
  const inputs: (readonly Table[])[] = runs.map(() => []);
  const first = runs[group.from]?.tables[0];
  if (first) inputs[group.from] = [first];
  let range = first && { low: first.low, high: first.high };
  for (let at = group.from + 1; at <= group.to && range; at += 1) {
    const overlapping = tablesWithin(runs[at], range);
    inputs[at] = overlapping;
    range = unionOf(range, overlapping);
  }
  return {
    runs,
    inputs,
    target: group.to,
    group,
    dropsDeletions: range !== undefined && isLowest(runs, group.to, range),
    urgency,
  };
}

interface KeySpan {
  readonly low: ItemKey;
  readonly high: ItemKey;
}

const tablesWithin = (run: Run | undefined, { low, high }: KeySpan): readonly Table[] =>
  (run?.tables ?? []).filter(
    (table) => compareItemKeys(table.high, low) >= 0 && compareItemKeys(table.low, high) <= 0,
  );

function unionOf({ low, high }: KeySpan, tables: readonly Table[]): KeySpan {
  const first = tables[0]?.low ?? low;
  const last = tables.at(-1)?.high ?? high;
  return {
    low: compareItemKeys(first, low) < 0 ? first : low,
    high: compareItemKeys(last, high) > 0 ? last : high,
  };
}

const isLowest = (runs: Runs, target: number, range: KeySpan): boolean =>
  runs.slice(target + 1).every((run) => tablesWithin(run, range).length === 0);

/** Merges small adjacent tables of one run, if none is larger than the others together. */
function smallTables(runs: Runs, limits: PackedLimits): MergePlan | undefined {
  for (const [at, { tables }] of runs.entries()) {
    const found = smallIn(tables, limits);
    const [first] = found;
    const last = found.at(-1);
    if (!first || !last) continue;
    const inputs = runs.map((_, i) => (i === at ? found : []));
    const dropsDeletions = isLowest(runs, at, { low: first.low, high: last.high });
    return { runs, inputs, target: at, group: { from: at, to: at }, dropsDeletions, urgency: 1 };
  }
  return undefined;
}

function smallIn(tables: readonly Table[], { tableBytes, runsPerLevel }: PackedLimits) {
  for (let from = 0; from + runsPerLevel <= tables.length; from += 1) {
    const found: Table[] = [];
    let bytes = 0;
    let largest = 0;
    for (const table of tables.slice(from)) {
      if (bytes + table.bytes > tableBytes) break;
      found.push(table);
      bytes += table.bytes;
      largest = Math.max(largest, table.bytes);
    }
    if (found.length >= runsPerLevel && largest * 2 <= bytes) return found;
  }
  return [];
}

/** The runs after a plan was carried out. Undefined if they are no longer the runs for which it was made. */
export function mergedInto(
  runs: Runs,
  plan: MergePlan,
  outputs: readonly Table[],
): Runs | undefined {
  const newer = runs.length - plan.runs.length;
  if (!plan.runs.every((run, at) => isSameRun(run, runs[newer + at]))) return undefined;
  const { inputs, target, group } = plan;
  const gone = new Set(inputs.flat());
  const goneIds = new Set([...gone].map(({ first }) => first));
  const merged = runs.slice(newer).map((run, at): Run => {
    const kept = run.tables.filter(({ first }) => !goneIds.has(first));
    const tables = at === target ? sortedTables([...kept, ...outputs]) : kept;
    const isMember = group.from < group.to && at >= group.from && at <= group.to;
    return { ...run, isMerging: run.isMerging || isMember, tables };
  });
  return [...runs.slice(0, newer), ...withoutEmpty(merged, plan)];
}

/** Another tab's flush may have appended tables to the oldest run, so only the expected tables are compared. */
function isSameRun(expected: Run, found: Run | undefined): boolean {
  return (
    found !== undefined &&
    found.level === expected.level &&
    expected.tables.every(({ first }, at) => found.tables[at]?.first === first)
  );
}

/** If only one run of the group is left, the merge is complete and the run moves to the next level. */
function withoutEmpty(runs: readonly Run[], { target, group }: MergePlan): Run[] {
  const isDone =
    group.from < group.to &&
    runs.slice(group.from, target).every(({ tables }) => tables.length === 0);
  const levelled = runs.map((run, at) =>
    isDone && at === target ? { ...run, level: run.level + 1, isMerging: false } : run,
  );
  return levelled.filter(({ tables }) => tables.length > 0);
}

const sortedTables = (tables: Table[]): Table[] =>
  tables.sort((a, b) => compareItemKeys(a.low, b.low));
