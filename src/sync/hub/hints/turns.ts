/** Spreads many small pieces of work over several turns of the event loop, so that requests can be answered in between. */

const PIECES_PER_TURN = 64;

export class Turns {
  private readonly pause: (() => Promise<void>) | undefined;
  private readonly waiting: (() => void)[] = [];
  private begun = 0;

  /** @param pause ends a turn; undefined: all work is done in one turn */
  constructor(pause: (() => Promise<void>) | undefined) {
    this.pause = pause;
  }

  /** Resolves when a piece of work may begin. */
  next(): Promise<void> {
    if (!this.pause) return Promise.resolve();
    if (this.begun < PIECES_PER_TURN && this.waiting.length === 0) {
      this.begin(this.pause);
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  private begin(pause: () => Promise<void>): void {
    this.begun += 1;
    if (this.begun === 1) void pause().then(() => this.beginTurn(pause));
  }

  private beginTurn(pause: () => Promise<void>): void {
    this.begun = 0;
    for (const resolve of this.waiting.splice(0, PIECES_PER_TURN)) {
      this.begin(pause);
      resolve();
    }
  }
}
