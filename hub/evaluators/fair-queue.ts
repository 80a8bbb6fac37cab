/** One line for each name: the next is of the line that has waited longest since its last turn. */
export class FairQueue<T> {
  private readonly lines = new Map<string, Line<T>>();
  private turns = 0;
  /** Waiting in all lines. */
  size = 0;

  add(name: string, item: T): void {
    let line = this.lines.get(name);
    // Behind those that wait already, before those that have just had a turn.
    if (!line)
      this.lines.set(name, (line = { waiting: [], running: 0, lastTurn: this.turns - 0.5 }));
    line.waiting.push(item);
    this.size += 1;
  }

  /** What is taken runs until `end`. @param runningMax of one name */
  take(runningMax: number): T | undefined {
    let next: Line<T> | undefined;
    for (const line of this.lines.values()) {
      if (line.waiting.length === 0 || line.running >= runningMax) continue;
      if (!next || line.lastTurn < next.lastTurn) next = line;
    }
    const item = next?.waiting.shift();
    if (!next || item === undefined) return undefined;
    next.running += 1;
    next.lastTurn = this.turns += 1;
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

  private dropIfEmpty(name: string, line: Line<T>): void {
    if (line.running === 0 && line.waiting.length === 0) this.lines.delete(name);
  }
}

interface Line<T> {
  readonly waiting: T[];
  running: number;
  lastTurn: number;
}
