/** A queue of commits that a stream has not processed yet. */
import type { CommitNotice } from '../engine/host.ts';
import type { Micros } from '../values/value.ts';

/** If the queue has more changes than this, one notice of unknown changes replaces it: this bounds the memory of a slow reader. */
const WAITING_KEYS_MAX = 4096;

export class Commits {
  private waiting: CommitNotice[] = [];
  private keys = 0;
  private wake: (() => void) | undefined = undefined;
  private isClosed = false;

  close(): void {
    this.isClosed = true;
    this.waiting = [];
    this.wake?.();
  }

  add(notice: CommitNotice): void {
    if (this.isClosed) return;
    this.waiting.push(notice);
    this.keys += weightOf(notice);
    if (this.keys > WAITING_KEYS_MAX) {
      const ts = this.waiting.reduce((last, each) => Math.max(last, each.ts), notice.ts);
      this.waiting = [unknownChanges(ts)];
      this.keys = 1;
    }
    this.wake?.();
  }

  /** The next commit; waits for one. Undefined if the stream was closed. */
  async next(): Promise<CommitNotice | undefined> {
    for (;;) {
      const notice = this.waiting.shift();
      if (notice) this.keys -= weightOf(notice);
      if (notice || this.isClosed) return notice;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

const weightOf = ({ rows, entries }: CommitNotice): number => 1 + rows.length + entries.length;

/** A notice that says that earlier commits may have been missed. */
const unknownChanges = (ts: Micros): CommitNotice => ({ previous: ts, ts, rows: [], entries: [] });

/** Whether the notice contains all changes after `seen`, which is false if a notice was missed. */
export const followsOn = ({ previous, ts }: CommitNotice, seen: Micros): boolean =>
  previous <= seen && previous < ts;
