/** When a syncer does nothing: until it is time to look at the hub or to try again, or something moves. */
import { SYNC_LIMITS } from '../../../limits.ts';
import { Backoff } from './backoff.ts';
import type { Hints } from './hint-listener.ts';
import { Signal } from './signal.ts';
import type { SyncerOptions } from './syncer-options.ts';
import { Busy } from './transport.ts';

const POLL_MS = { listening: 60_000, deaf: 10_000 };
const SLOW_RETRY_MS = 300_000;
const LEAST_RETRY_MS = 500;

export class Waiting {
  private readonly options: Pick<SyncerOptions, 'wait' | 'chance' | 'pollMs'>;
  private readonly backoff: Backoff;
  private readonly moved = new Signal();
  private readonly stopping = new Signal();

  constructor(options: Pick<SyncerOptions, 'wait' | 'chance' | 'pollMs'>) {
    this.options = options;
    this.backoff = new Backoff(options.chance);
  }

  /** For good: nothing is waited for any more. */
  get isOver(): boolean {
    return this.stopping.isRaised;
  }

  end(): void {
    this.stopping.raise();
    this.moved.raise();
  }

  /** Something moved. */
  wake(): void {
    this.moved.raise();
  }

  /** What has moved so far is seen to from here on. */
  beginRound(): void {
    this.moved.lower();
  }

  /** The hub answers: the next failure is a first one. */
  noteSuccess(): void {
    this.backoff.reset();
  }

  /** Until something moves, or it is time to look. A stream that says nothing is given up, lest nobody is at its other end. */
  async rest(hints: Hints): Promise<void> {
    const { options, moved } = this;
    const { listening, deaf } = options.pollMs ?? POLL_MS;
    if (!hints.isListening) {
      await options.wait(deaf, moved);
      if (!moved.isRaised) hints.forgive();
      return;
    }
    hints.wasSilent();
    for (let ms = 0; ms < listening && hints.isListening; ms += SYNC_LIMITS.silenceMs) {
      await options.wait(SYNC_LIMITS.silenceMs, moved);
      if (moved.isRaised) return;
      if (hints.wasSilent()) hints.deafen();
    }
  }

  /** Until the next try, or something moves. */
  async backOff(): Promise<void> {
    await this.options.wait(this.backoff.next(), this.moved);
  }

  /** Until the next try, whatever moves. */
  async backOffUndisturbed(): Promise<void> {
    await this.options.wait(this.backoff.next(), this.stopping);
  }

  /** However often something moves: a hub that is not there, or has asked for time, is not asked before. */
  async retreat(reason: unknown): Promise<void> {
    const { wait } = this.options;
    this.moved.lower();
    const least = reason instanceof Busy ? reason.retryAfterMs : LEAST_RETRY_MS;
    const ms = Math.max(this.backoff.next(), least);
    await wait(Math.min(least, SLOW_RETRY_MS), this.stopping);
    await wait(Math.max(0, ms - least), this.moved);
    if (this.moved.isRaised) this.backoff.ease();
  }

  /** For as long as the hub has asked for, within reason. */
  async stayAway(ms: number): Promise<void> {
    await this.options.wait(Math.min(ms, SLOW_RETRY_MS), this.stopping);
  }

  /** What was refused will hardly be taken soon. */
  async waitLong(): Promise<void> {
    await this.options.wait(SLOW_RETRY_MS, this.moved);
  }

  async waitForKick(): Promise<void> {
    this.moved.lower();
    while (!this.isOver && !this.moved.isRaised) await this.waitLong();
  }
}
