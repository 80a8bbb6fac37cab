/**
 * Messages that the hub sends to a device on its own: hints of changes and heartbeats. Of several unread hints only the latest is
 * kept.
 */
import type { ChangeHint } from '../../src/sync/protocol/hints.ts';
import type { SyncRefusal } from '../../src/sync/protocol/refusals.ts';

export type FeedEvent =
  | { readonly beat: true }
  | { readonly poke: ChangeHint }
  /** The last event: the device may no longer listen. */
  | { readonly refused: SyncRefusal };

export class HintFeed implements AsyncIterable<FeedEvent>, AsyncIterator<FeedEvent, undefined> {
  private readonly heartbeatMs: number;
  private readonly refusal: () => Promise<SyncRefusal | undefined>;
  private readonly waiting: FeedEvent[] = [];
  private latest: ChangeHint | undefined = undefined;
  private wake: (() => void) | undefined = undefined;
  private onClosed: (() => void) | undefined = undefined;
  private timer: ReturnType<typeof setTimeout> | undefined = undefined;
  private isClosed = false;

  /** @param refusal returns the reason why the device may no longer listen; checked with every heartbeat */
  constructor(heartbeatMs: number, refusal: () => Promise<SyncRefusal | undefined>) {
    this.heartbeatMs = heartbeatMs;
    this.refusal = refusal;
  }

  start(): void {
    if (this.isClosed) return;
    this.timer = setTimeout(() => void this.beat(), this.heartbeatMs);
    // The timer must not keep the process alive. In browsers timers are numbers, without `unref`.
    (this.timer as Partial<NodeJS.Timeout>).unref?.();
  }

  hint(poke: ChangeHint): void {
    this.latest = poke;
    this.wake?.();
  }

  onClose(closed: () => void): void {
    if (this.isClosed) closed();
    else this.onClosed = closed;
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.timer);
    this.onClosed?.();
    this.wake?.();
  }

  /** Closes the feed when the signal is aborted. */
  closeWith(signal: AbortSignal): void {
    if (signal.aborted) this.close();
    else signal.addEventListener('abort', () => this.close(), { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<FeedEvent, undefined>> {
    for (;;) {
      const event = this.waiting.shift() ?? this.takeHint();
      if (event !== undefined) return { done: false, value: event };
      if (this.isClosed) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  return(): Promise<IteratorResult<FeedEvent, undefined>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  private takeHint(): FeedEvent | undefined {
    const { latest } = this;
    this.latest = undefined;
    return latest && { poke: latest };
  }

  private async beat(): Promise<void> {
    // If the store cannot be read now, the credential counts as valid.
    const refused = await this.refusal().catch(() => undefined);
    if (this.isClosed) return;
    // Heartbeats do not pile up for a device that does not read.
    if (this.waiting.length === 0) this.waiting.push({ beat: true });
    if (refused) {
      this.waiting.push({ refused });
      this.close();
    } else this.start();
    this.wake?.();
  }
}
