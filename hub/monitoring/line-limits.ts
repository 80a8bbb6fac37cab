/** Limits the number of log lines about refusals and failures: a flood of them would fill the disk. */

const WINDOW_MS = 60_000;
/** Lines of one kind per window, and how many of them may be about the same address, so that other addresses are seen too. */
const LINES_MAX = 100;
const LINES_OF_ADDRESS_MAX = 20;

export class LineLimits {
  private readonly tell: (leftOut: number) => void;
  private readonly counts = new Map<string, number>();
  private leftOut = 0;
  private timer: NodeJS.Timeout | undefined = undefined;

  /** @param tell called with the number of dropped lines at the end of each window in which lines were dropped */
  constructor(tell: (leftOut: number) => void) {
    this.tell = tell;
  }

  /** Returns whether a line may be written; if not, the line is counted as dropped. @param kind must have few distinct values */
  takes(kind: string, address: string | undefined): boolean {
    this.timer ??= setTimeout(() => this.end(), WINDOW_MS).unref();
    const ofAddress = address === undefined ? undefined : `${kind} ${address}`;
    const isOver =
      this.countOf(kind) >= LINES_MAX || this.countOf(ofAddress) >= LINES_OF_ADDRESS_MAX;
    if (isOver) this.leftOut += 1;
    else for (const name of [kind, ofAddress]) this.add(name);
    return !isOver;
  }

  private countOf(name: string | undefined): number {
    return (name !== undefined && this.counts.get(name)) || 0;
  }

  private add(name: string | undefined): void {
    if (name !== undefined) this.counts.set(name, this.countOf(name) + 1);
  }

  private end(): void {
    const { leftOut } = this;
    this.timer = undefined;
    this.leftOut = 0;
    this.counts.clear();
    if (leftOut > 0) this.tell(leftOut);
  }
}
