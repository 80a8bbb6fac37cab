/** A lane for each credential: `width` of its requests run at once, `waitingMax` more wait, and further ones are refused. */
export class ConcurrencyLimits {
  private readonly width: number;
  private readonly waitingMax: number;
  private readonly lanes = new Map<string, Lane>();
  /** Requests that are running, in all lanes. */
  running = 0;

  constructor(width: number, waitingMax: number) {
    this.width = width;
    this.waitingMax = waitingMax;
  }

  /**
   * Resolves when the request may run, with a function to call when it ends.
   * @returns undefined if too many requests wait already
   */
  enter(name: string): Promise<() => void> | undefined {
    const lane = this.lanes.get(name) ?? { running: 0, waiting: [] };
    this.lanes.set(name, lane);
    if (lane.running < this.width) return Promise.resolve(this.start(name, lane));
    if (lane.waiting.length >= this.waitingMax) return undefined;
    return new Promise((resolve) => {
      lane.waiting.push(() => resolve(this.start(name, lane)));
    });
  }

  private start(name: string, lane: Lane): () => void {
    lane.running += 1;
    this.running += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      lane.running -= 1;
      this.running -= 1;
      const next = lane.waiting.shift();
      if (next) next();
      else if (lane.running === 0) this.lanes.delete(name);
    };
  }
}

interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}
