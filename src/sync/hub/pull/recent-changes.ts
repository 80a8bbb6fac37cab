/** The latest commits of the log of changes, in memory, so that a pull after a hint need not read the log. */
import type { CommitNotice } from '../../../engine/host.ts';
import { changeKey } from '../../../engine/transactions.ts';
import type { Row } from '../../../store/port.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import { withGap, type Gap } from '../rows/gap-rows.ts';

const COMMITS_MAX = 256;
const CHARS_MAX = 1024 * 1024;

interface Commit {
  readonly ts: Micros;
  readonly rows: readonly Row[];
  readonly chars: number;
}

export class RecentChanges {
  /** Consecutive commits, without a gap, up to `head`. */
  private readonly commits: Commit[] = [];
  private chars = 0;
  /** All commits after this time are in memory. */
  private from: Micros = 0;
  private head: Micros = -1;
  /** The latest commit that this process has seen. Later than `head` after the store was set back. */
  private latest: Micros = -1;
  /**
   * The time before the first commit that this process has seen. And the times between commits in which one that it has seen is missing: the
   * store was set back while the process was running, for example because a standby that lagged was promoted.
   */
  gaps: readonly Gap[] = [];

  onCommit({ previous, ts, logged }: CommitNotice): void {
    const isSetBack = previous < this.latest && this.latest < ts;
    this.latest = Math.max(this.latest, ts);
    if (isSetBack || this.gaps.length === 0) this.gaps = withGap(this.gaps, { previous, ts });
    if (previous !== this.head || !logged) {
      this.commits.length = 0;
      this.chars = 0;
      this.from = logged ? previous : ts;
    }
    this.head = ts;
    if (!logged) return;
    const chars = logged.reduce((sum, { value }) => sum + value.length, 0);
    this.commits.push({ ts, rows: logged, chars });
    this.chars += chars;
    while (this.commits.length > COMMITS_MAX || this.chars > CHARS_MAX) this.forgetFirst();
  }

  /** Log rows of a database after `since`, up to and including `head`. Undefined if some of the commits are not in memory. */
  between(database: DatabaseId, since: Micros, head: Micros): readonly Row[] | undefined {
    if (since < this.from || head > this.head) return undefined;
    return this.commits.flatMap(({ ts, rows }) => {
      if (ts <= since || ts > head) return [];
      const key = changeKey(database, ts);
      return rows.filter((row) => row.key === key);
    });
  }

  private forgetFirst(): void {
    const first = this.commits.shift();
    if (!first) return;
    this.chars -= first.chars;
    this.from = first.ts;
  }
}
