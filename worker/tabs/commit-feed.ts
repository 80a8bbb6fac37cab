import type { CommitNotice } from '../../src/engine/host.ts';

export interface CommitOrigin {
  readonly origin: 'own' | 'other';
  /**
   * False when notices of earlier commits are missing, or may be. Also false for the first notice, as the earlier commits are not known.
   */
  readonly isComplete: boolean;
}
export type CommitListener = (notice: CommitNotice, origin: CommitOrigin) => void;

/** The commits of this tab, and those of other tabs as far as their notices arrive. */
export class CommitFeed {
  private readonly listeners = new Set<CommitListener>();
  private head = 0;

  listen(listener: CommitListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  publish(notice: CommitNotice, origin: CommitOrigin['origin']): void {
    // Notices of two tabs may arrive in the wrong order: then the later commit shows a gap, and the earlier one closes it.
    const isComplete = notice.previous <= this.head;
    this.head = Math.max(this.head, notice.ts);
    for (const listener of this.listeners) listener(notice, { origin, isComplete });
  }
}
