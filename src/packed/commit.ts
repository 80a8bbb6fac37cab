/**
 * The commit protocol, optimistic: a body runs on the newest version that this tab knows, and its writes are appended
 * to the log if nothing was committed in between. Otherwise the body runs again.
 */
import { assert } from '../errors.ts';
import {
  requireWithin,
  SPACES,
  type Space,
  type WriteOptions,
  type WriteSet,
  type WriteTx,
} from '../store/port.ts';
import type { Change, LogRecord } from './codec/log-record.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import { SnapshotTx } from './tree/snapshot-tx.ts';
import type { Tree } from './tree/tree.ts';
import type { Version } from './tree/version.ts';
import { WrittenRows } from './written-rows.ts';

/** After this many commits without a conflict, the next commit does not read the log first. */
const UNCONTENDED_MIN = 4;

export class Committer {
  private readonly tree: Tree;
  /** Commits since the last conflict, that is, since another tab committed while this one waited for its transaction. */
  private uncontended = 1;

  constructor(tree: Tree) {
    this.tree = tree;
  }

  /**
   * Runs the body on the known version and commits. Runs it again on the newest version when another tab committed
   * first.
   */
  async commit<T>(body: WriteBody<T>, options: Required<WriteOptions>): Promise<T> {
    const draft = (): Promise<Draft<T>> => this.draft(body, options.spaces);
    const isCurrent = this.tree.isCurrent();
    // Other tabs broadcast their commits. If none has come lately, the log is unlikely to have new records.
    const isOptimistic = isCurrent || this.uncontended >= UNCONTENDED_MIN;
    // While other tabs write, a draft made before the transaction would be outdated inside it, so none is made.
    const first = isOptimistic || this.uncontended > 0 ? await draft() : undefined;
    if (first && isOptimistic) {
      const outcome = await this.commitUnread(first, options);
      if (outcome) return outcome();
      if (!isCurrent) this.uncontended = 0;
    }
    return (await this.commitAfterRead(first, draft, options))();
  }

  /**
   * Commits without reading the log. Returns undefined if another record was appended since the draft, in which case
   * nothing is committed.
   */
  private async commitUnread<T>(
    { version, outcome, record }: Draft<T>,
    { durability }: Required<WriteOptions>,
  ): Promise<Outcome<T> | undefined> {
    if (!record) return (await this.isNewest(version)) ? outcome : undefined;
    // A reader in this tab may have read the log since the draft. The append would then succeed, although the draft has
    // not seen the newer commits.
    if (!this.isNewestKnown(version)) return undefined;
    const number = await this.tree.append(record, durability);
    return number === undefined ? undefined : outcome;
  }

  /**
   * Commits in a transaction that reads the log and appends. In it the body runs again only if another commit came
   * since its draft. A result without writes is accepted as soon as the log was read before the body ran. Otherwise a
   * body that takes longer than the commits of another tab would run again for ever, because it would need a moment
   * without commits.
   */
  private async commitAfterRead<T>(
    first: Draft<T> | undefined,
    draft: () => Promise<Draft<T>>,
    { durability }: Required<WriteOptions>,
  ): Promise<Outcome<T>> {
    let latest = first;
    let isLogRead = false;
    for (;;) {
      if (latest && !latest.record) {
        if (isLogRead || (await this.isNewest(latest.version))) return latest.outcome;
        isLogRead = true;
        latest = await draft();
        continue;
      }
      const { version } = this.tree;
      const number = await this.tree.appendNext(async () => {
        this.uncontended = this.isNewestKnown(version) ? this.uncontended + 1 : 0;
        isLogRead = true;
        if (!latest || !this.isNewestKnown(latest.version)) latest = await draft();
        // If a block had to be loaded, the transaction may have ended, and another tab may have committed.
        return this.isNewestKnown(latest.version) ? latest.record : undefined;
      }, durability);
      if (number !== undefined && latest) return latest.outcome;
    }
  }

  /** Runs the body on the newest known version. */
  private async draft<T>(body: WriteBody<T>, spaces: readonly Space[]): Promise<Draft<T>> {
    for (;;) {
      const { version } = this.tree;
      const tx = new SnapshotTx(this.tree, spaces, version);
      const former = new SnapshotTx(this.tree, SPACES, version);
      const written = new WrittenRows();
      let changes: readonly Change[] | undefined;
      const outcome = await outcomeOf(async () => {
        const value = await run(body, tx, written, spaces);
        if (!written.isEmpty)
          changes = written.changes((await former.fetch(written.needed, [])).rows);
        return value;
      });
      tx.release();
      former.release();
      const missing = tx.missing ?? former.missing;
      if (!missing) return { version, outcome, record: changes && { kind: 'commit', changes } };
      await this.tree.recover(version, missing);
    }
  }

  private isNewestKnown({ committed }: Version): boolean {
    return this.tree.version.committed === committed;
  }

  /** Whether nothing has been committed since this version. Reads the log if the tab does not know. */
  private async isNewest(version: Version): Promise<boolean> {
    if (!this.tree.isCurrent()) await this.tree.refresh();
    return this.isNewestKnown(version);
  }
}

export type WriteBody<T> = (tx: WriteTx) => Promise<T>;

/** A transaction body that has run and is not committed. */
interface Draft<T> {
  /** The version that the body has read. */
  readonly version: Version;
  readonly outcome: Outcome<T>;
  /** Undefined if the body failed or wrote nothing. */
  readonly record: LogRecord | undefined;
}

async function run<T>(
  body: WriteBody<T>,
  tx: SnapshotTx,
  written: WrittenRows,
  spaces: readonly Space[],
): Promise<T> {
  let isOver = false;
  const apply = (writes: WriteSet): void => {
    assert(!isOver, () => 'a write transaction applies nothing after its body has ended');
    for (const { space } of [...writes.puts, ...writes.deletes]) requireWithin(spaces, space);
    written.apply(writes);
  };
  try {
    return await body({ fetch: (...request) => tx.fetch(...request), apply });
  } finally {
    isOver = true;
  }
}
