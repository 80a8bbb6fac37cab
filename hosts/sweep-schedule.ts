/** Schedules the collection of expired data: soon after opening, every hour, and soon after a container of other data was deleted. */
import { decodeHistoryKey } from '../src/codec/key.ts';
import type { CommitNotice } from '../src/engine/host.ts';
import { NATIVE } from '../src/values/native-kinds.ts';

export interface SweepScheduleOptions {
  readonly sweep: () => Promise<void>;
  /**
   * Calls `body` after `ms`.
   * @returns a function that cancels the call
   */
  readonly after: (ms: number, body: () => void) => () => void;
  /** Receives errors. The next sweep does what was left undone. */
  readonly report: (reason: unknown) => void;
}

/** Soon, because a page may never be open for a whole minute. */
const FIRST_MS = 10_000;
const SOON_MS = 5_000;
const EVERY_MS = 3_600_000;

/** These contain rows or entries of other documents, so deleting one leaves much to collect. */
const CONTAINERS: readonly number[] = [NATIVE.collections, NATIVE.indexes, NATIVE.databases];

export class SweepSchedule {
  private readonly options: SweepScheduleOptions;
  private cancel: () => void = () => undefined;
  private isSweeping = false;
  private isDueSoon = false;
  private isClosed = false;

  constructor(options: SweepScheduleOptions) {
    this.options = options;
    this.plan(FIRST_MS);
  }

  /** Call this for commits of this process and of others on the same data. */
  onCommit({ rows }: CommitNotice): void {
    // Only a change of something that existed before writes a row to the history.
    const isEnd = rows.some(
      ({ space, key }) =>
        space === 'history' && CONTAINERS.includes(decodeHistoryKey(key).collection),
    );
    if (!isEnd || this.isDueSoon) return;
    this.isDueSoon = true;
    if (!this.isSweeping) this.plan(SOON_MS);
  }

  /** Closing the store interrupts a running sweep, which continues after the next start. */
  close(): void {
    this.isClosed = true;
    this.cancel();
  }

  private plan(ms: number): void {
    this.cancel();
    if (!this.isClosed) this.cancel = this.options.after(ms, () => void this.work());
  }

  private async work(): Promise<void> {
    this.isSweeping = true;
    this.isDueSoon = false;
    try {
      await this.options.sweep();
    } catch (reason) {
      if (!this.isClosed) this.options.report(reason);
    }
    this.isSweeping = false;
    this.plan(this.isDueSoon ? SOON_MS : EVERY_MS);
  }
}
