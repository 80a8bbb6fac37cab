/**
 * Messages that the hub sends to a device on its own: hints of changes and heartbeats. Of several unread hints only the latest is
 * kept.
 */
import { after } from '../../hosts/after.ts';
import type { ChangeHint } from '../../src/sync/protocol/hints.ts';
import type { Subscription, SyncHub } from '../../src/sync/hub/sync-hub.ts';
import { isSyncRefusal, type SyncRefusal } from '../../src/sync/protocol/refusals.ts';

export type FeedEvent =
  | { readonly beat: true }
  | { readonly poke: ChangeHint }
  /** The last event: the device may no longer listen. */
  | { readonly refused: SyncRefusal };

export interface FeedRequest {
  readonly secret: string;
  readonly device: string;
  readonly heartbeatMs: number;
  /** Aborted when the device has disconnected. */
  readonly signal: AbortSignal;
}

/** Opens the hints for one device, until it disconnects or its credential becomes invalid. */
export async function openFeed(
  sync: SyncHub,
  { secret, device, heartbeatMs, signal }: FeedRequest,
): Promise<HintFeed | SyncRefusal> {
  const feed = new HintFeed(heartbeatMs);
  const subscribed = await sync.subscribe(secret, device, (poke) => feed.hint(poke));
  if (isSyncRefusal(subscribed)) return subscribed;
  feed.start(subscribed);
  if (signal.aborted) feed.close();
  else signal.addEventListener('abort', () => feed.close(), { once: true });
  return feed;
}

export class HintFeed implements AsyncIterable<FeedEvent>, AsyncIterator<FeedEvent, undefined> {
  private readonly heartbeatMs: number;
  private readonly waiting: FeedEvent[] = [];
  private latest: ChangeHint | undefined = undefined;
  private wake: (() => void) | undefined = undefined;
  private subscription: Subscription | undefined = undefined;
  private cancelBeat = (): void => undefined;
  private isClosed = false;

  constructor(heartbeatMs: number) {
    this.heartbeatMs = heartbeatMs;
  }

  start(subscription: Subscription): void {
    this.subscription = subscription;
    this.cancelBeat = after(this.heartbeatMs, () => void this.beat(subscription));
  }

  hint(poke: ChangeHint): void {
    this.latest = poke;
    this.wake?.();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.cancelBeat();
    this.subscription?.close();
    this.wake?.();
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

  private async beat(subscription: Subscription): Promise<void> {
    // If the store cannot be read now, the credential counts as valid.
    const refused = await subscription.refusal().catch(() => undefined);
    if (this.isClosed) return;
    // Heartbeats do not pile up for a device that does not read.
    if (this.waiting.length === 0) this.waiting.push({ beat: true });
    if (refused) {
      this.waiting.push({ refused });
      this.close();
    } else this.start(subscription);
    this.wake?.();
  }
}
