/**
 * One line for each name, and names belong to groups: the next is of the group that has waited longest since its last turn, and in it of
 * the line that has.
 */
export class FairQueue<T> {
  private readonly lines = new Map<string, Line<T>>();
  private readonly groups = new Map<string, Group>();
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

  hasGroup(name: string): boolean {
    return this.groups.has(name);
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

  /** Behind those that wait already, before those that have just had a turn. */
  private addLine(name: string, groupName: string): Line<T> {
    const lastTurn = this.turns - 0.5;
    let group = this.groups.get(groupName);
    if (!group) this.groups.set(groupName, (group = { name: groupName, lines: 0, lastTurn }));
    group.lines += 1;
    const line = { waiting: [], running: 0, lastTurn, group };
    this.lines.set(name, line);
    return line;
  }

  private dropIfEmpty(name: string, { running, waiting, group }: Line<T>): void {
    if (running > 0 || waiting.length > 0) return;
    this.lines.delete(name);
    group.lines -= 1;
    if (group.lines === 0) this.groups.delete(group.name);
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
