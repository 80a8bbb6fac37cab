export interface Waiting {
  /** Beats since it last moved on. */
  beats: number;
  /** Called at each beat; gives up when it has seen too many. */
  beat(): void;
}

const BEAT_MS = 1000;
/** Beats without a first answer: somebody else holds what we need. */
export const BLOCKED_BEATS = 10;
/** Beats without a further answer: the backend is gone. */
export const SILENT_BEATS = 60;

/**
 * One timer for all that waits, so that watching costs a transaction nothing. Counts beats, not time: after a freeze of the
 * page all clocks have run on, but nobody had the chance to answer.
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
