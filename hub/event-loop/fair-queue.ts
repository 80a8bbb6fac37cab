/** Groups of which nothing waits, and whose last turn is remembered. */
const GROUPS_REMEMBERED = 1000;

/**
 * One line for each name, and names belong to groups: the next is of the group that has waited longest since its last turn, and in it of
 * the line that has. Who has not come for a while is before those that come all the time.
 */
export class FairQueue<T> {
  private readonly lines = new Map<string, Line<T>>();
  private readonly groups = new Map<string, Group>();
  /** The last turns of groups that are not there; the one that was there last at the end. */
  private readonly lastTurns = new Map<string, number>();
  private turns = 0;
  /** Waiting in all lines. */
  size = 0;

  /** @param group of the name, as of when its line began; one of its own if not given */
  add(name: string, item: T, group = name): void {
    const line = this.lines.get(name) ?? this.addLine(name, group);
    line.waiting.push(item);
    this.size += 1;
  }

  /** What is taken runs until `end`. @param runningMax of one name */
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

  end(name: string): void {
    const line = this.lines.get(name);
    if (!line) return;
    line.running -= 1;
    this.dropIfEmpty(name, line);
  }

  /** @returns whether it was waiting */
  remove(name: string, item: T): boolean {
    const line = this.lines.get(name);
    const at = line?.waiting.indexOf(item) ?? -1;
    if (!line || at < 0) return false;
    line.waiting.splice(at, 1);
    this.size -= 1;
    this.dropIfEmpty(name, line);
    return true;
  }

  /** A turn of a group of which nothing waits. */
  noteTurn(group: string): void {
    this.remember(group, (this.turns += 1));
  }

  /** Nothing of it waits, and all that wait had their last turns after it. */
  isBeforeAll(name: string): boolean {
    if (this.groups.has(name)) return false;
    const lastTurn = this.lastTurns.get(name) ?? -1;
    for (const group of this.groups.values()) if (group.lastTurn < lastTurn) return false;
    return true;
  }

  /** Waiting and running. */
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

  /** A line, and a group whose last turn is not known, begin behind those that wait already, before those that have just had a turn. */
  private addLine(name: string, groupName: string): Line<T> {
    const lastTurn = this.turns - 0.5;
    const group = this.groups.get(groupName) ?? this.addGroup(groupName, lastTurn);
    group.lines += 1;
    const line = { waiting: [], running: 0, lastTurn, group };
    this.lines.set(name, line);
    return line;
  }

  private dropIfEmpty(name: string, { running, waiting, group }: Line<T>): void {
    if (running > 0 || waiting.length > 0) return;
    this.lines.delete(name);
    group.lines -= 1;
    if (group.lines > 0) return;
    this.groups.delete(group.name);
    this.remember(group.name, group.lastTurn);
  }

  private addGroup(name: string, lastTurn: number): Group {
    const group = { name, lines: 0, lastTurn: this.lastTurns.get(name) ?? lastTurn };
    this.groups.set(name, group);
    this.lastTurns.delete(name);
    return group;
  }

  private remember(name: string, lastTurn: number): void {
    const { lastTurns } = this;
    lastTurns.delete(name);
    lastTurns.set(name, lastTurn);
    if (lastTurns.size <= GROUPS_REMEMBERED) return;
    const [oldest] = lastTurns.keys();
    if (oldest !== undefined) lastTurns.delete(oldest);
  }
}

interface Group {
  readonly name: string;
  lines: number;
  lastTurn: number;
}

interface Line<T> {
  readonly waiting: T[];
  readonly group: Group;
  running: number;
  lastTurn: number;
}

const isBefore = <T>(one: Line<T>, other: Line<T>): boolean =>
  one.group === other.group
    ? one.lastTurn < other.lastTurn
    : one.group.lastTurn < other.group.lastTurn;
