/** Changes of sets: additions and removals of tuples. Those of a combined set are computed from those of its members. Spec: sets 6. */
import { refBytes } from '../../codec/key.ts';
import { encodeNumberTypes } from '../../codec/number-types.ts';
import { compareValues } from '../../values/compare.ts';
import { isKind } from '../../values/value.ts';
import type { ActionName, Micros, ObjectValue, Value } from '../../values/value.ts';
import { joinSources } from './runs.ts';
import {
  compareTuples,
  directionsOf,
  restOf,
  tupleInDirections,
  withSources,
  type Tuple,
} from './tuple.ts';

export interface Change {
  readonly ts: Micros;
  /** `create`, `update` and `delete` occur only in the history of a document. */
  readonly action: ActionName;
  readonly tuple: Tuple;
  /** In the history of a document, the changed fields. */
  readonly data: ObjectValue | null | undefined;
}

const isEnd = ({ action }: Pick<Change, 'action'>): boolean =>
  action === 'remove' || action === 'delete';

/** Orders the changes of one commit: removals before additions. */
export const rankOf = (action: ActionName): number => Number(!isEnd({ action }));

/**
 * The sort key of a change, as values to compare: time, removals before additions, ref, events of the document itself before those of sets,
 * covered values, 1 before 1.0. A cursor contains the first of these values.
 */
export const placeOf = ({ ts, action, data, tuple }: Change): readonly Value[] => [
  ts,
  rankOf(action),
  tuple.ref,
  Number(data === undefined),
  tuple.values ?? [],
  restOf(tuple),
];

export const compareChanges = (a: Change, b: Change): number =>
  a.ts - b.ts || compareValues(placeOf(a), placeOf(b));

/** The changes of all members. A change that several members have is listed once, with the sources of all. */
export function unitedChanges(members: readonly (readonly Change[])[]): readonly Change[] {
  const byName = new Map<string, Change>();
  for (const change of inOneDirection(members).flat()) {
    const { ts, action, tuple } = change;
    const { ref, group, values = [] } = tuple;
    const name = `${ts} ${action} ${refBytes(ref)}${group}${encodeNumberTypes(values)}`;
    const known = byName.get(name);
    const sources = known ? joinSources([...known.tuple.sources, ...tuple.sources]) : tuple.sources;
    byName.set(name, known ? { ...known, tuple: withSources(known.tuple, sources) } : change);
  }
  return [...byName.values()];
}

/**
 * Converts all tuples to one direction if the members differ, so that equal values have equal groups. The targets of a join by a lambda may
 * have another direction than the other members.
 */
function inOneDirection(members: readonly (readonly Change[])[]): readonly (readonly Change[])[] {
  const isTurned = ([first]: readonly Change[]): boolean =>
    first !== undefined && directionsOf(first.tuple).includes(true);
  if (members.length < 2 || !members.some(isTurned)) return members;
  return members.map((changes) =>
    changes.map((change) => ({ ...change, tuple: tupleInDirections(change.tuple, []) })),
  );
}

/** The list under a key. Added if missing. */
export function listAt<K, T>(lists: Map<K, T[]>, key: K): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Counts how many tuples of each group a set contains at a time. */
class Presence {
  private readonly byGroup = new Map<string, Change[]>();

  constructor(changes: readonly Change[]) {
    for (const change of changes) listAt(this.byGroup, change.tuple.group).push(change);
    for (const list of this.byGroup.values()) list.sort(compareChanges);
  }

  get groups(): ReadonlyMap<string, readonly Change[]> {
    return this.byGroup;
  }

  countAt(group: string, ts: Micros, includes: boolean): number {
    let count = 0;
    for (const change of this.byGroup.get(group) ?? []) {
      if (includes ? change.ts > ts : change.ts >= ts) break;
      count += isEnd(change) ? -1 : 1;
    }
    return count;
  }
}

/** Changes of each target of a join, while the source contains the element that the target belongs to. */
export function joinedChanges(
  source: readonly Change[],
  changesOfTarget: (element: Tuple) => readonly Change[],
): readonly Change[] {
  const presence = new Presence(source);
  const targets: Change[][] = [];
  for (const [group, [first]] of presence.groups) {
    if (!first) continue;
    const isLed = (change: Change) => presence.countAt(group, change.ts, !isEnd(change)) > 0;
    targets.push(changesOfTarget(first.tuple).filter(isLed));
  }
  return unitedChanges(targets);
}

/**
 * Changes of a set whose runs are computed from the runs of its members: compares the result of `combine` after each change with the
 * previous result.
 */
export function combinedChanges(
  members: readonly (readonly Change[])[],
  combine: (runs: readonly (readonly Tuple[])[]) => readonly Tuple[],
): readonly Change[] {
  const byGroup = new Map<string, { readonly member: number; readonly change: Change }[]>();
  inOneDirection(members).forEach((changes, member) => {
    for (const change of changes) listAt(byGroup, change.tuple.group).push({ member, change });
  });
  const combined: Change[] = [];
  for (const list of byGroup.values()) {
    list.sort((a, b) => compareChanges(a.change, b.change));
    const runs: Tuple[][] = members.map(() => []);
    let shown: readonly Tuple[] = [];
    list.forEach(({ member, change }, i) => {
      apply(runs[member] ?? [], change);
      const { ts } = change;
      if (list[i + 1]?.change.ts === ts) return;
      const now = [...combine(runs)];
      for (const tuple of missing(shown, now)) combined.push(changeAt(ts, 'remove', tuple));
      for (const tuple of missing(now, shown)) combined.push(changeAt(ts, 'add', tuple));
      shown = now;
    });
  }
  return combined;
}

function apply(run: Tuple[], change: Change): void {
  const at = run.findIndex((each) => compareTuples(each, change.tuple) >= 0);
  const found = run[at];
  const isFound = found !== undefined && compareTuples(found, change.tuple) === 0;
  if (isEnd(change)) {
    if (isFound) run.splice(at, 1);
  } else if (!isFound) run.splice(at < 0 ? run.length : at, 0, change.tuple);
}

const missing = (from: readonly Tuple[], other: readonly Tuple[]): readonly Tuple[] =>
  from.filter((tuple) => !other.some((each) => compareTuples(each, tuple) === 0));

export const changeAt = (ts: Micros, action: 'add' | 'remove', tuple: Tuple): Change => ({
  ts,
  action,
  tuple,
  data: undefined,
});

/** Converts sources of tuples to sources of events: the history of each set. */
export const asHistory = (sources: readonly Value[]): readonly Value[] =>
  sources.map((source) =>
    isKind(source, 'set') || isKind(source, 'ref')
      ? { kind: 'set', op: 'events', of: source }
      : source,
  );
