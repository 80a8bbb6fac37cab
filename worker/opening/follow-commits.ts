/** Commits of this tab to the other tabs, and those of all tabs to what follows them here. */
import type { Engine } from '../../src/engine/engine.ts';
import type { CommitNotice } from '../../src/engine/host.ts';
import type { JoinedTabs } from './join-tabs.ts';

interface CommitFollower {
  onCommit(notice: CommitNotice, isComplete: boolean): void;
}

export function followCommits(
  engine: Engine,
  { tabs, feed, lease }: JoinedTabs,
  followers: readonly CommitFollower[],
): void {
  engine.onCommit((notice) => {
    // A tab with the lease has no other to notify; one that opens later reads the store.
    if (!lease?.isHeld()) tabs.broadcast({ type: 'commit', notice: shortNotice(notice) });
    feed.publish(notice, 'own');
  });
  feed.listen((notice, { origin, isComplete }) => {
    if (origin === 'other') engine.applyCommit(notice);
    for (const follower of followers) follower.onCommit(notice, isComplete);
  });
}

/** Above so many keys, the notice says that anything may have changed: that is cheaper than sending the keys. */
const NOTICE_KEYS_MAX = 256;

export function shortNotice(notice: CommitNotice): CommitNotice {
  const { ts, rows, entries } = notice;
  if (rows.length + entries.length <= NOTICE_KEYS_MAX) return notice;
  // As if the commits before it had been missed.
  return { previous: ts, ts, rows: [], entries: [] };
}
