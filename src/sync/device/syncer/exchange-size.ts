import { requireAnswer, type HubAnswer, type RetryLater } from './transport.ts';

const SHARE_MIN = 1 / 64;
/** Exchanges without a failure before more is tried. */
const GROW_AFTER = 16;

/**
 * How much is sent, or asked for, at a time: half as much after an exchange that failed. What a slow line cannot carry before the
 * deadline, or a server on the way refuses as too long, would fail however often it is tried.
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
      // Who names a time has too much to do, and would have more with smaller pieces.
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
