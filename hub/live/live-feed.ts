/**
 * Tells all live queries about commits that may change what they have read. Only a few are told per turn of the event loop, so
 * that many live queries do not delay other work.
 */
import type { CommitNotice } from '../../src/engine/host.ts';
import { followsOn } from '../../src/http/stream-commits.ts';
import { Changes } from '../../src/http/changes.ts';

export interface Follower {
  readonly size: number;
  onChanges(changes: Changes): void;
}

export interface LiveFeedOptions {
  /** Gives the event loop a turn. */
  readonly pause: () => Promise<void>;
  /** How many changed keys may wait; with more, everything counts as changed. */
  readonly keysMax: number;
  readonly report: (reason: unknown) => void;
}

/** How many live queries are compared with the changes between two turns of the event loop. */
const COMPARED = 256;

export class LiveFeed {
  private readonly options: LiveFeedOptions;
  private readonly followers = new Set<Follower>();
  /** Commits to tell about. Undefined if there were too many or some were missed: everything counts as changed. */
  private waiting: CommitNotice[] | undefined = [];
  private keys = 0;
  private seen = 0;
  private isTelling = false;

  constructor(options: LiveFeedOptions) {
    this.options = options;
  }

  get size(): number {
    let size = 0;
    for (const follower of this.followers) size += follower.size;
    return size;
  }

  /** @returns a function that removes the follower */
  add(follower: Follower): () => void {
    this.followers.add(follower);
    return () => void this.followers.delete(follower);
  }

  onCommit(notice: CommitNotice): void {
    const isComplete = followsOn(notice, this.seen);
    this.seen = Math.max(this.seen, notice.ts);
    if (this.followers.size === 0) return;
    this.keys += notice.rows.length + notice.entries.length;
    if (isComplete && this.keys <= this.options.keysMax) this.waiting?.push(notice);
    else this.waiting = undefined;
    if (this.isTelling) return;
    this.isTelling = true;
    this.tell()
      .catch(this.options.report)
      .finally(() => (this.isTelling = false));
  }

  private async tell(): Promise<void> {
    const { pause } = this.options;
    while (this.waiting === undefined || this.waiting.length > 0) {
      // Commits that arrive in the same turn are compared together.
      await pause();
      const changes = new Changes(this.waiting);
      this.waiting = [];
      this.keys = 0;
      let compared = 0;
      for (const follower of this.followers) {
        follower.onChanges(changes);
        compared += follower.size;
        if (compared < COMPARED) continue;
        compared = 0;
        await pause();
      }
    }
  }
}
