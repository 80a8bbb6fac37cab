/** The messages between the tabs that have a database open, and the lease. */
import { hexOfBytes } from '../../src/codec/hex.ts';
import { random } from '../browser/random.ts';
import { CommitFeed } from '../tabs/commit-feed.ts';
import { Lease } from '../tabs/lease.ts';
import { Tabs, type SyncTabMessage, type TabMessage } from '../tabs/tabs.ts';
import { lockManager } from '../tabs/web-locks.ts';

export interface TabsHandlers {
  /** Another tab has deleted the database. */
  readonly onDestroyed: () => void;
  /** Another tab has locked the database, or unlocked it. */
  readonly onLock: (state: 'locked' | 'unlocked') => void;
}

export interface JoinedTabs {
  readonly tabs: Tabs;
  /** Commits of all tabs. */
  readonly feed: CommitFeed;
  /** Undefined where Web Locks are not available, or not needed because there are no other tabs. */
  readonly locks: LockManager | undefined;
  /** Undefined without `locks`: then no tab holds a lease. */
  readonly lease: Lease | undefined;
  /** Await this before the first commit: once it resolves, no other tab holds a lease. */
  readonly ready: Promise<void> | undefined;
  /** Sync messages that arrive before this call are dropped: a tab that starts to sync asks for the current state. */
  readonly listenToSync: (listener: (message: SyncTabMessage) => void) => void;
  /** Leaves and notifies the other tabs: one of them may now be the only one and acquire the lease. */
  readonly leave: () => void;
}

/** @param isShared false: there are no other tabs, so neither locks nor a lease are needed */
export function joinTabs(
  name: string,
  { onDestroyed, onLock }: TabsHandlers,
  isShared = true,
): JoinedTabs {
  const feed = new CommitFeed();
  let onSync: ((message: SyncTabMessage) => void) | undefined = undefined;
  const onMessage = (message: TabMessage): void => {
    if (message.type === 'commit') feed.publish(message.notice, 'other');
    else if (message.type === 'opening') lease?.giveUp();
    else if (message.type === 'left') lease?.onLeft();
    else if (message.type === 'destroyed') onDestroyed();
    else if (message.type === 'locked' || message.type === 'unlocked') onLock(message.type);
    else onSync?.(message);
  };
  const tabs = new Tabs(name, onMessage, isShared);
  const locks = isShared ? lockManager() : undefined;
  const lease = locks && leaseOf(name, locks, tabs);
  const listenToSync: JoinedTabs['listenToSync'] = (listener) => (onSync = listener);
  const leave = (): void => {
    lease?.close();
    tabs.broadcast({ type: 'left' });
    tabs.close();
  };
  return { tabs, feed, locks, lease, ready: lease?.join(), listenToSync, leave };
}

const leaseOf = (name: string, locks: LockManager, tabs: Tabs): Lease =>
  new Lease({
    name,
    id: hexOfBytes(random(16)),
    locks,
    now: () => performance.now(),
    announce: () => tabs.broadcast({ type: 'opening' }),
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
