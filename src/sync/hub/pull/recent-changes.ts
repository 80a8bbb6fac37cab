/** The latest commits as the log of changes has them, in memory: a pull after a hint need not read the log. */
import type { CommitNotice } from '../../../engine/host.ts';
import { changeKey } from '../../../engine/transactions.ts';
import type { Row } from '../../../store/port.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { Gap } from '../rows/gap-rows.ts';

const COMMITS_MAX = 256;
const CHARS_MAX = 1024 * 1024;

interface Commit {
  readonly ts: Micros;
  readonly rows: readonly Row[];
  readonly chars: number;
}

export class RecentChanges {
  /** One after the other, without a gap, up to `head`. */
  private readonly commits: Commit[] = [];
  private chars = 0;
  /** All commits after this are known. */
  private from: Micros = 0;
  private head: Micros = -1;
  private firstGap: Gap | undefined = undefined;

  onCommit({ previous, ts, logged }: CommitNotice): void {
    this.firstGap ??= { previous, ts };
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

  /** Rows of the log of a database after one commit, up to and with another; undefined: not all of them are known here. */
  between(database: DatabaseId, since: Micros, head: Micros): readonly Row[] | undefined {
    if (since < this.from || head > this.head) return undefined;
    return this.commits.flatMap(({ ts, rows }) => {
      if (ts <= since || ts > head) return [];
      const key = changeKey(database, ts);
      return rows.filter((row) => row.key === key);
    });
  }

  /** Before the first commit that was met here. */
  get gap(): Gap | undefined {
    return this.firstGap;
  }

  private forgetFirst(): void {
    const first = this.commits.shift();
    if (!first) return;
    this.chars -= first.chars;
    this.from = first.ts;
  }
}
