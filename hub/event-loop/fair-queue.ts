import { remember } from '../../src/values/remember.ts';

/**
 * A queue in which callers take turns. Each name has a line (FIFO), and each line belongs to a group. The next item comes from
 * the group that has waited longest since its last turn, and in this group from the line that has waited longest. So a caller
 * that has been idle is served before callers that send all the time.
 */
export class FairQueue<T> {
  private readonly lines = new Map<string, Line<T>>();
  private readonly groups = new Map<string, Group<T>>();
  private readonly pastLines: LastTurns = new Map();
  private readonly pastGroups: LastTurns = new Map();
  private turns = 0;
  /** The number of items that wait in all lines. */
  size = 0;

  /** @param group the group of the name; only used when the line of the name is created. A group of its own if not given. */
  add(name: string, item: T, group = name): void {
    this.lineOf(name, group).waiting.push(item);
    this.size += 1;
  }

  /** Adds the item at the front of its line. */
  addFirst(name: string, item: T, group: string): void {
    this.lineOf(name, group).waiting.unshift(item);
    this.size += 1;
  }

  /**
   * Takes the next item. It counts as running until `end()` is called.
   * @param runningMax how many items of one name may run at once
   */
  take(runningMax: number): T | undefined {
    let next: Line<T> | undefined;
    for (const line of this.lines.values()) {
      if (line.waiting.length === 0 || line.running >= runningMax) continue;
      if (!next || isBefore(line, next)) next = line;
    }
    const item = next?.waiting.shift();
    if (!next || item === undefined) return undefined;
    next.running += 1;
    next.lastTurn = next.group.lastTurn = this.turns += 1;
    this.size -= 1;
    return item;
  }

  /** Returns a taken item to the front of its line. */
  putBack(name: string, item: T): void {
    const line = this.lines.get(name);
    if (!line) return;
    line.running -= 1;
    line.waiting.unshift(item);
    this.size += 1;
  }

  end(name: string): void {
    const line = this.lines.get(name);
    if (!line) return;
    line.running -= 1;
    this.dropIfEmpty(name, line);
  }

  /** @returns whether the item was waiting */
  remove(name: string, item: T): boolean {
    const line = this.lines.get(name);
    const at = line?.waiting.indexOf(item) ?? -1;
    if (!line || at < 0) return false;
    line.waiting.splice(at, 1);
    this.size -= 1;
    this.dropIfEmpty(name, line);
    return true;
  }

  /**
   * Makes room when the queue is full, so that no caller can keep the others out: removes the last item of the longest line in
   * the group with the most waiting items.
   * @returns the removed item; undefined if the newcomer's own group or line is about as long, so that the newcomer must be
   * refused
   */
  displace(name: string, groupName = name): T | undefined {
    const group = most(this.groups.values(), waitingOfGroup);
    const line = group && most(group.lines, waitingOf);
    if (!group || !line) return undefined;
    const isOwn = group.name === groupName;
    const theirs = isOwn ? waitingOf(line) : waitingOfGroup(group);
    const own = isOwn
      ? waitingOf(this.lines.get(name))
      : waitingOfGroup(this.groups.get(groupName));
    if (theirs < own + 2) return undefined;
    const last = line.waiting.pop();
    this.size -= 1;
    this.dropIfEmpty(line.name, line);
    return last;
  }

  /** Records a turn of an item that ran without waiting in this queue. */
  recordTurn(name: string, group = name): void {
    const turn = (this.turns += 1);
    recordLast(turn, name, this.lines, this.pastLines);
    recordLast(turn, group, this.groups, this.pastGroups);
  }

  /** Whether an item of this group may overtake: none of its items waits, and all waiting groups had their last turns after it. */
  isNextGroup(name: string): boolean {
    return !this.groups.has(name) && isBeforeAll(this.pastGroups.get(name), this.groups.values());
  }

  /**
   * Whether an item of this line may overtake in its group: its line is empty, while other lines of the group wait and had their
   * last turns after it. False for a line whose last turn is unknown.
   */
  isNextInGroup(name: string, groupName: string): boolean {
    const group = this.groups.get(groupName);
    if (!group || this.lines.has(name)) return false;
    return isBeforeAll(this.pastLines.get(name) ?? Infinity, group.lines);
  }

  /** The number of items of this name that wait or run. */
  countOf(name: string): number {
    const line = this.lines.get(name);
    return line ? line.waiting.length + line.running : 0;
  }

  get isEmpty(): boolean {
    return this.lines.size === 0;
  }

  waiting(): readonly T[] {
    return [...this.lines.values()].flatMap(({ waiting }) => waiting);
  }

  private lineOf(name: string, group: string): Line<T> {
    return this.lines.get(name) ?? this.addLine(name, group);
  }

  /** A name whose last turn is unknown is placed behind the lines that already wait, but before a line that has just had a turn. */
  private addLine(name: string, groupName: string): Line<T> {
    const unknown = this.turns - 0.5;
    const group = this.groups.get(groupName) ?? this.addGroup(groupName, unknown);
    const lastTurn = this.pastLines.get(name) ?? unknown;
    const line = { name, waiting: [], running: 0, lastTurn, group };
    group.lines.add(line);
    this.lines.set(name, line);
    return line;
  }

  private addGroup(name: string, unknown: number): Group<T> {
    const lastTurn = this.pastGroups.get(name) ?? unknown;
    const group = { name, lines: new Set<Line<T>>(), lastTurn };
    this.groups.set(name, group);
    return group;
  }

  private dropIfEmpty(name: string, line: Line<T>): void {
    if (line.running > 0 || line.waiting.length > 0) return;
    const { group } = line;
    this.lines.delete(name);
    remember(this.pastLines, name, line.lastTurn, NAMES_REMEMBERED);
    group.lines.delete(line);
    if (group.lines.size > 0) return;
    this.groups.delete(group.name);
    remember(this.pastGroups, group.name, group.lastTurn, NAMES_REMEMBERED);
  }
}

interface TakesTurns {
  lastTurn: number;
}

interface Group<T> extends TakesTurns {
  readonly name: string;
  readonly lines: Set<Line<T>>;
}

interface Line<T> extends TakesTurns {
  readonly name: string;
  readonly waiting: T[];
  readonly group: Group<T>;
  running: number;
}

/** Last turns of names and groups that have nothing waiting or running; only the most recent `NAMES_REMEMBERED` are kept. */
type LastTurns = Map<string, number>;

const NAMES_REMEMBERED = 1000;

const waitingOf = <T>(line: Line<T> | undefined): number => line?.waiting.length ?? 0;

function waitingOfGroup<T>(group: Group<T> | undefined): number {
  let count = 0;
  for (const line of group?.lines ?? []) count += line.waiting.length;
  return count;
}

/** @returns the element with the highest count; undefined if there are no elements */
function most<X>(all: Iterable<X>, countOf: (each: X) => number): X | undefined {
  let found: X | undefined;
  for (const each of all) if (!found || countOf(each) > countOf(found)) found = each;
  return found;
}

function recordLast(
  turn: number,
  name: string,
  present: ReadonlyMap<string, TakesTurns>,
  past: LastTurns,
): void {
  const waiting = present.get(name);
  if (waiting) waiting.lastTurn = turn;
  else remember(past, name, turn, NAMES_REMEMBERED);
}

function isBeforeAll(lastTurn = -1, others: Iterable<TakesTurns>): boolean {
  for (const other of others) if (other.lastTurn < lastTurn) return false;
  return true;
}

const isBefore = <T>(one: Line<T>, other: Line<T>): boolean =>
  one.group === other.group
    ? one.lastTurn < other.lastTurn
    : one.group.lastTurn < other.group.lastTurn;
