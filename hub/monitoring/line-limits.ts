/** Bounds the lines about what was refused and what failed: a flood of them would fill the disk. */

const WINDOW_MS = 60_000;
/** Of one kind, in so much time; of those, so many about one address, so that others are seen beside it. */
const LINES_MAX = 100;
const LINES_OF_ADDRESS_MAX = 20;

export class LineLimits {
  private readonly tell: (leftOut: number) => void;
  private readonly counts = new Map<string, number>();
  private leftOut = 0;
  private timer: NodeJS.Timeout | undefined = undefined;

  /** @param tell says how many lines were left out, at the end of a time in which some were */
  constructor(tell: (leftOut: number) => void) {
    this.tell = tell;
  }

  /** Whether a line may be written; if not, it is counted. @param kind one of few */
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
