/** Operations on sets of the model, and their pages. */
import { compareCovered, compareTuples, covered } from './database.ts';
import { compare, compareRefs, DocRef, Page, render, SetOf, Silent } from './values.ts';
import type { Change, Members, Tuple, Value } from './values.ts';

/** Whether adjacent sets have the same directions, as far as both have them. */
export function areCompatible(sets: readonly SetOf[]): boolean {
  return sets.every((set, i) => {
    const next = sets[i + 1];
    return (
      !next || set.flags.every((flag, at) => at >= next.flags.length || next.flags[at] === flag)
    );
  });
}

const runsOf = (tuples: readonly Tuple[], flags: readonly boolean[]): Tuple[][] => {
  const runs: Tuple[][] = [];
  for (const tuple of tuples) {
    const run = runs.at(-1);
    if (run?.[0] && compareCovered(covered(run[0]), covered(tuple), flags) === 0) run.push(tuple);
    else runs.push([tuple]);
  }
  return runs;
};

/** Combines the runs of equal values of all members. `chosen` selects one run by the lengths of all. */
export function combined(
  sets: readonly SetOf[],
  chosen: (lengths: readonly number[]) => number | undefined,
  changesOf: (set: SetOf) => readonly Change[],
): SetOf {
  const known = sets.map(knownShape);
  const combination = combinedPlain(known, chosen);
  const { flags, isTurned, tuplesAt } = combination;
  return known.every(({ changes }) => changes)
    ? new SetOf(flags, isTurned, tuplesAt, () => changesOf(combination))
    : combination;
}

/** The changes of a union: those of all members. */
export const unitedChanges = (sets: readonly SetOf[]): readonly Change[] => [
  ...new Map(
    sets
      .flatMap((set) => set.changes?.() ?? [])
      .map((each) => [`${each.ts} ${each.action} ${render(eventOf(each))}`, each]),
  ).values(),
];

function combinedPlain(
  sets: readonly SetOf[],
  chosen: (lengths: readonly number[]) => number | undefined,
): SetOf {
  const longest = sets.reduce((best, each) =>
    each.flags.length > best.flags.length ? each : best,
  );
  const { flags } = longest;
  return new SetOf(flags, sets[0]?.isTurned ?? false, (time) => {
    const members = sets.map((set) => runsOf(set.tuplesAt(time), flags));
    const all = members.flat().map((run) => covered(run[0] as Tuple));
    all.sort((a, b) => compareCovered(a, b, flags));
    const values = all.filter(
      (each, i) => i === 0 || compareCovered(all[i - 1] ?? [], each, flags) !== 0,
    );
    return values.flatMap((value) => {
      const runs = members.map(
        (each) =>
          each.find((run) => compareCovered(covered(run[0] as Tuple), value, flags) === 0) ?? [],
      );
      const at = chosen(runs.map(({ length }) => length));
      return at === undefined ? [] : (runs[at] ?? []);
    });
  });
}

const indexOfBest = (lengths: readonly number[], best: number): number => lengths.indexOf(best);

export const CHOICES: Readonly<Record<string, (lengths: readonly number[]) => number | undefined>> =
  {
    union: (lengths) => indexOfBest(lengths, Math.max(...lengths)),
    intersection: (lengths) =>
      lengths.includes(0) ? undefined : indexOfBest(lengths, Math.min(...lengths)),
    difference: ([first = 0, ...others]) =>
      first > 0 && others.every((length) => length === 0) ? 0 : undefined,
  };

export const distinct = (set: SetOf): SetOf => {
  const { flags, isTurned, tuplesAt, changes } = knownShape(set);
  const firsts = (time: number) => runsOf(tuplesAt(time), flags).map((run) => run[0] as Tuple);
  return new SetOf(flags, isTurned, firsts, changes);
};

/** Requires that the directions of a set are known: otherwise the model does not cover the query. */
function knownShape(set: SetOf): SetOf {
  if (set.flags.length === 0) throw new Silent('what is made of joins by a lambda');
  return set;
}

/** The tuples between two bounds, inclusive. */
export const between = (set: SetOf, from: readonly Value[], to: readonly Value[]): SetOf =>
  filtered(
    knownShape(set),
    (tuple) =>
      (from.length === 0 || !isBefore(tuple, set, from)) &&
      (to.length === 0 || isBefore(tuple, set, to) || isNamed(tuple, set, to)),
  );

export const filtered = (set: SetOf, keeps: (tuple: Tuple, time: number) => boolean): SetOf =>
  new SetOf(set.flags, set.isTurned, (time) =>
    set.tuplesAt(time).filter((tuple) => keeps(tuple, time)),
  );

/** Each value of the target sets once, with the first document that has it. */
export const joined = (
  source: SetOf,
  flags: readonly boolean[],
  targetOf: (tuple: Tuple) => SetOf,
): SetOf => {
  const tuplesAt = (time: number) => {
    const targets = source.tuplesAt(time).map(targetOf);
    const own = targets[0]?.flags ?? [];
    const all = targets.flatMap((target) => target.tuplesAt(time));
    all.sort((a, b) => compareTuples(a, b, own));
    return runsOf(all, own).map((run) => run[0] as Tuple);
  };
  const untold = (): never => {
    throw new Silent('events of joins');
  };
  return new SetOf(flags, false, tuplesAt, source.changes && untold);
};

/** Whether the end of a range names the tuple: it names all tuples that start with its values. */
function isNamed(tuple: Tuple, set: SetOf, given: readonly Value[]): boolean {
  const arity = Math.max(1, set.flags.length - 1);
  const cursor = given.slice(0, set.flags.length === 1 ? 1 : arity + 1);
  const values = covered(tuple);
  const isPrefix = (part: readonly Value[]) =>
    compareCovered(values.slice(0, part.length), part, set.flags) === 0;
  if (cursor.length <= arity) return isPrefix(cursor);
  const last = cursor[arity] ?? null;
  return (
    last instanceof DocRef && isPrefix(cursor.slice(0, arity)) && compareRefs(tuple.ref, last) === 0
  );
}

export const eventOf = ({ ts, action, tuple }: Change): Members => {
  const members = new Map<string, Value>([
    ['ts', BigInt(ts)],
    ['action', action],
    ['document', tuple.ref],
  ]);
  return tuple.values ? members.set('data', tuple.values) : members;
};

const compareChanges = (a: Change, b: Change): number =>
  a.ts - b.ts ||
  Number(a.action === 'add') - Number(b.action === 'add') ||
  compareRefs(a.tuple.ref, b.tuple.ref) ||
  compare(a.tuple.values ?? [], b.tuple.values ?? []);

/** @param cursor `at` is a time */
export function eventsPage(
  changes: readonly Change[],
  size: number,
  cursor: { readonly side: 'before' | 'after'; readonly at: number } | undefined,
): Page {
  const all = changes.toSorted(compareChanges);
  const echo: Value | undefined =
    cursor &&
    new Map<string, Value>([
      ['ts', BigInt(cursor.at)],
      ['action', 'add'],
    ]);
  const path = cursor ? all.filter(({ ts }) => ts < cursor.at).length : 0;
  const isBackward = cursor?.side === 'before';
  if (size === 0) return new Page(echo, echo, []);
  if (size < 0) return new Page(isBackward ? undefined : echo, isBackward ? echo : undefined, []);
  const start = isBackward ? Math.max(0, path - size) : path;
  const page = all.slice(start, isBackward ? path : path + size).map(eventOf);
  const next = all[path + size];
  return isBackward
    ? new Page(start > 0 ? page[0] : undefined, echo, page)
    : new Page(echo, next && eventOf(next), page);
}

/** The reversed set. The ref of a set without values becomes a value. */
export const turned = (set: SetOf): SetOf => {
  knownShape(set);
  const values = set.flags.length === 1 ? set.flags : set.flags.slice(0, -1);
  return new SetOf([...values.map((flag) => !flag), false], !set.isTurned, (time) =>
    set.tuplesAt(time).toReversed(),
  );
};

export const elementOf = ({ values, ref }: Tuple): Value =>
  values === undefined ? ref : values.length === 1 ? (values[0] ?? null) : values;

const cursorOf = (set: SetOf, { values, ref }: Tuple): Value =>
  values ? [...values, ref] : set.isTurned ? [ref, ref] : [ref];

/** Whether the tuple is before the position that a cursor names. */
function isBefore(tuple: Tuple, set: SetOf, given: readonly Value[]): boolean {
  const isPlain = set.flags.length === 1;
  const arity = isPlain ? 1 : set.flags.length - 1;
  const cursor = given.slice(0, isPlain ? 1 : arity + 1);
  const values = covered(tuple);
  if (cursor.length <= arity) {
    return compareCovered(values.slice(0, cursor.length), cursor, set.flags) < 0;
  }
  const difference = compareCovered(values, cursor.slice(0, arity), set.flags);
  if (difference !== 0) return difference < 0;
  const last = cursor[arity] ?? null;
  if (!(last instanceof DocRef)) return compare(last, new DocRef('c', 0n)) > 0;
  const order = compareRefs(tuple.ref, last);
  return set.isTurned ? order > 0 : order < 0;
}

export interface Cursor {
  readonly side: 'before' | 'after';
  readonly given: readonly Value[];
}

export function pageOf(set: SetOf, time: number, size: number, cursor: Cursor | undefined): Page {
  const { side, given } = cursor ?? { side: 'after', given: undefined };
  if (size === 0) return new Page(given, given, []);
  const echo = (name: 'before' | 'after') => (side === name ? undefined : given);
  if (size < 0 || (side === 'before' && given?.length === 0)) {
    return new Page(echo('before'), echo('after'), []);
  }
  if (given && set.flags.length === 0) throw new Silent('cursors of joins by a lambda');
  const tuples = set.tuplesAt(time);
  if (side === 'after') {
    const rest =
      given === undefined || given.length === 0
        ? tuples
        : tuples.filter((each) => !isBefore(each, set, given));
    const next = rest[size];
    return new Page(given, next && cursorOf(set, next), rest.slice(0, size).map(elementOf));
  }
  const before = tuples.filter((each) => isBefore(each, set, given ?? []));
  const page = before.slice(Math.max(0, before.length - size));
  const first = page[0];
  const hasMore = before.length > size;
  return new Page(hasMore && first ? cursorOf(set, first) : undefined, given, page.map(elementOf));
}
