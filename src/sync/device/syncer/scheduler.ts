/** Decides how long a syncer waits: until the next poll or retry, or until an event. */
import { SYNC_LIMITS } from '../../../limits.ts';
import { Backoff } from './backoff.ts';
import type { HintListener } from './hint-listener.ts';
import { Signal } from './signal.ts';
import type { SyncerOptions } from './syncer-options.ts';
import type { RetryLater } from './transport.ts';

const POLL_MS = { listening: 60_000, notListening: 10_000 };
const SLOW_RETRY_MS = 300_000;
const LEAST_RETRY_MS = 500;

export class SyncScheduler {
  private readonly options: Pick<SyncerOptions, 'wait' | 'random' | 'pollMs'>;
  private readonly backoff: Backoff;
  private readonly woken = new Signal();
  private readonly stopping = new Signal();

  constructor(options: Pick<SyncerOptions, 'wait' | 'random' | 'pollMs'>) {
    this.options = options;
    this.backoff = new Backoff(options.random);
  }

  /** Stopped for good: every wait ends at once. */
  get isStopped(): boolean {
    return this.stopping.isRaised;
  }

  stop(): void {
    this.stopping.raise();
    this.woken.raise();
  }

  /** An event has happened. Ends all waits that can be interrupted. */
  wake(): void {
    this.woken.raise();
  }

  /** The round or hello that begins now takes all events so far into account. */
  beginRound(): void {
    this.woken.lower();
  }

  /** The hub has answered, so the next failure counts as the first one. */
  onSuccess(): void {
    this.backoff.reset();
  }

  /** Waits for an event or the next poll. Closes a stream of hints without activity, because the connection may be dead. */
  async idle(hints: HintListener): Promise<void> {
    const { options, woken } = this;
    const { listening, notListening } = options.pollMs ?? POLL_MS;
    if (!hints.isListening) {
      await options.wait(notListening, woken);
      if (!woken.isRaised) hints.allowRetry();
      return;
    }
    hints.wasSilent();
    for (let ms = 0; ms < listening && hints.isListening; ms += SYNC_LIMITS.silenceMs) {
      await options.wait(SYNC_LIMITS.silenceMs, woken);
      if (woken.isRaised) return;
      if (hints.wasSilent()) hints.stop();
    }
  }

  /** Waits for the next retry or an event. */
  async backOff(): Promise<void> {
    await this.options.wait(this.backoff.next(), this.woken);
  }

  /** Waits for the next retry. Events do not interrupt it. */
  async backOffUninterrupted(): Promise<void> {
    await this.options.wait(this.backoff.next(), this.stopping);
  }

  /** Waits after a failure. Events do not shorten the minimum pause, for a hub that cannot answer now or has sent a retry time. */
  async backOffAfter(failure: unknown): Promise<void> {
    const { wait } = this.options;
    this.woken.lower();
    const least = (failure as Partial<RetryLater>).retryAfterMs ?? LEAST_RETRY_MS;
    const ms = Math.max(this.backoff.next(), least);
    await wait(Math.min(least, SLOW_RETRY_MS), this.stopping);
    await wait(Math.max(0, ms - least), this.woken);
    if (this.woken.isRaised) this.backoff.ease();
  }

  /** Waits long, because a repeated request would probably be refused again. */
  async waitLong(): Promise<void> {
    await this.options.wait(SLOW_RETRY_MS, this.woken);
  }

  async waitUntilWoken(): Promise<void> {
    while (!this.isStopped && !this.woken.isRaised) await this.waitLong();
  }
}
