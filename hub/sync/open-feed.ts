import type { SyncHub } from '../../src/sync/hub/sync-hub.ts';
import { isSyncRefusal, type SyncRefusal } from '../../src/sync/protocol/refusals.ts';
import { HintFeed } from './hint-feed.ts';

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
  const feed: HintFeed = new HintFeed(heartbeatMs, () => subscription.refusal());
  const subscribed = await sync.subscribe(secret, device, (poke) => feed.hint(poke));
  if (isSyncRefusal(subscribed)) return subscribed;
  const subscription = subscribed;
  feed.onClose(() => subscription.close());
  feed.closeWith(signal);
  feed.start();
  return feed;
}
