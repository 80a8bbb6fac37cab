export interface Waiting {
  /** Beats since the last progress. */
  beats: number;
  /** Called at each beat. Gives up when there were too many beats without progress. */
  beat(): void;
}

const BEAT_MS = 1000;
/** After so many beats without a first response, somebody else holds a needed lock. */
export const BLOCKED_BEATS = 10;
/** After so many beats without a further response, the storage backend is gone. */
export const SILENT_BEATS = 60;

/**
 * One timer for everything that waits, so that a transaction costs no timer of its own. It counts beats and not time: after a page was
 * frozen, all clocks have advanced, although nothing could respond in that time.
 */
export class Watchdog {
  private readonly waiting = new Set<Waiting>();
  private timer: ReturnType<typeof setTimeout> | undefined = undefined;
  private readonly beatMs: number;

  constructor(beatMs = BEAT_MS) {
    this.beatMs = beatMs;
  }

  add(waiting: Waiting): void {
    this.waiting.add(waiting);
    this.timer ??= setTimeout(this.beat, this.beatMs);
  }

  delete(waiting: Waiting): void {
    this.waiting.delete(waiting);
  }

  private readonly beat = (): void => {
    for (const each of this.waiting) {
      each.beats += 1;
      each.beat();
    }
    this.timer = this.waiting.size > 0 ? setTimeout(this.beat, this.beatMs) : undefined;
  };
}
