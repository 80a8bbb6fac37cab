/** Listeners for commits, and the notices sent to them. */
import type { CommitNotice } from '../context/host.ts';
import type { CommitGroup } from './execution.ts';
import type { Commit } from './head-tracker.ts';

export class CommitNotices {
  private readonly listeners = new Set<(notice: CommitNotice) => void>();

  add(listener: (notice: CommitNotice) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Calls each listener in its own microtask: an error of a listener must not look like a failed commit, which would be retried. */
  send(notice: CommitNotice): void {
    for (const listener of this.listeners) void Promise.resolve(notice).then(listener);
  }
}

export function noticeOf(
  { changes, logged }: Commit,
  members: CommitGroup['members'],
): CommitNotice {
  const { previous, ts } = changes;
  const rows = changes.rows.map(({ space, key }) => ({ space, key }));
  const entries = [...changes.entries];
  for (const { outcome, committed } of members) {
    if (committed === undefined || outcome.state !== 'done' || !outcome.announced) continue;
    for (const each of outcome.announced.rows) rows.push(each);
    for (const each of outcome.announced.entries) entries.push(each);
  }
  return { previous, ts, rows, entries, ...(logged && { logged }) };
}
