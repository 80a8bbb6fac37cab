import { requireAnswer, type HubAnswer, type RetryLater } from './transport.ts';

export const SHARE_MIN = 1 / 64;
/** Number of successful exchanges before the size is doubled. */
const GROW_AFTER = 16;

/**
 * How much is sent or requested at a time. The size is halved after a failed exchange: a message that a slow connection cannot transfer
 * before the deadline, or that a proxy refuses as too long, would fail at every retry.
 */
export class ExchangeSize {
  private share = 1;
  private successes = 0;

  of(max: number): number {
    return max * this.share;
  }

  /** @throws RefusedByHub, and what the exchange rejects with */
  async answerOf<T>(exchange: Promise<HubAnswer<T>>): Promise<T> {
    try {
      const answer = requireAnswer(await exchange);
      this.countSuccess();
      return answer;
    } catch (reason) {
      // With a retry time, the server is overloaded. More requests of smaller size would add to its load.
      if ((reason as Partial<RetryLater>).retryAfterMs !== undefined) throw reason;
      this.share = Math.max(SHARE_MIN, this.share / 2);
      this.successes = 0;
      throw reason;
    }
  }

  private countSuccess(): void {
    this.successes += 1;
    if (this.successes < GROW_AFTER) return;
    this.share = Math.min(1, this.share * 2);
    this.successes = 0;
  }
}
