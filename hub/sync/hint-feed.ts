/** What one device is told unasked: the latest hint at most waits to be read, and a heartbeat shows that the line is there. */
import type { Poke, SyncRefusal } from '../../src/sync/protocol.ts';

export type FeedEvent =
  | { readonly beat: true }
  | { readonly poke: Poke }
  /** The last: its reader may listen no more. */
  | { readonly refused: SyncRefusal };

export class PokeFeed implements AsyncIterable<FeedEvent>, AsyncIterator<FeedEvent, undefined> {
  private readonly heartbeatMs: number;
  private readonly refusal: () => Promise<SyncRefusal | undefined>;
  private readonly waiting: FeedEvent[] = [];
  private poked: Poke | undefined = undefined;
  private wake: (() => void) | undefined = undefined;
  private ended: (() => void) | undefined = undefined;
  private timer: NodeJS.Timeout | undefined = undefined;
  private isClosed = false;

  /** @param refusal why the reader may listen no more; asked with every heartbeat */
  constructor(heartbeatMs: number, refusal: () => Promise<SyncRefusal | undefined>) {
    this.heartbeatMs = heartbeatMs;
    this.refusal = refusal;
  }

  start(): void {
    if (!this.isClosed) this.timer = setTimeout(() => void this.beat(), this.heartbeatMs).unref();
  }

  poke(poke: Poke): void {
    this.poked = poke;
    this.wake?.();
  }

  onClose(ended: () => void): void {
    if (this.isClosed) ended();
    else this.ended = ended;
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.timer);
    this.ended?.();
    this.wake?.();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<FeedEvent, undefined>> {
    for (;;) {
      const event = this.waiting.shift() ?? this.takePoke();
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

  private takePoke(): FeedEvent | undefined {
    const { poked } = this;
    this.poked = undefined;
    return poked && { poke: poked };
  }

  private async beat(): Promise<void> {
    // A store that cannot be asked now says nothing about the credential.
    const refused = await this.refusal().catch(() => undefined);
    if (this.isClosed) return;
    // Who does not read is not heaped upon.
    if (this.waiting.length === 0) this.waiting.push({ beat: true });
    if (refused) {
      this.waiting.push({ refused });
      this.close();
    } else this.start();
    this.wake?.();
  }
}
