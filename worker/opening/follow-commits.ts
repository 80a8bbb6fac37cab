/** Sends the commits of this tab to the other tabs, and the commits of all tabs to their listeners in this worker. */
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
    // While this tab holds the lease, there is no other tab to notify. A tab that opens later reads the store.
    if (!lease?.isHeld()) tabs.broadcast({ type: 'commit', notice: shortNotice(notice) });
    feed.publish(notice, 'own');
  });
  feed.listen((notice, { origin, isComplete }) => {
    if (origin === 'other') engine.applyCommit(notice);
    for (const follower of followers) follower.onCommit(notice, isComplete);
  });
}

/** With more keys than this, the notice says that anything may have changed, which is cheaper than sending the keys. */
const NOTICE_KEYS_MAX = 256;

export function shortNotice(notice: CommitNotice): CommitNotice {
  const { ts, rows, entries } = notice;
  if (rows.length + entries.length <= NOTICE_KEYS_MAX) return notice;
  // `previous: ts` makes it look as if the earlier commits had been missed.
  return { previous: ts, ts, rows: [], entries: [] };
}
