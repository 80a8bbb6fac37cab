/**
 * The commit protocol: a body runs over the newest version that this tab knows, and what it wrote is appended if nothing was
 * committed since. Otherwise it runs again.
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

/** After so many commits without a conflict, the log is not read before the next one. */
const UNCONTENDED_MIN = 4;

export class Committer {
  private readonly tree: Tree;
  /** Commits since the last conflict: another tab committed while this one waited for its transaction. */
  private uncontended = 1;

  constructor(tree: Tree) {
    this.tree = tree;
  }

  /** Runs the body on what is known; on what is there then, when another tab committed first. */
  async commit<T>(body: WriteBody<T>, options: Required<WriteOptions>): Promise<T> {
    const draft = (): Promise<Draft<T>> => this.draft(body, options.spaces);
    const isCurrent = this.tree.isCurrent();
    // Other tabs broadcast what they commit: where none has lately, nothing new is to be expected in the log.
    const isOptimistic = isCurrent || this.uncontended >= UNCONTENDED_MIN;
    // While others write, a draft made before the transaction is out of date in it.
    const first = isOptimistic || this.uncontended > 0 ? await draft() : undefined;
    if (first && isOptimistic) {
      const outcome = await this.commitUnread(first, options);
      if (outcome) return outcome();
      if (!isCurrent) this.uncontended = 0;
    }
    return (await this.commitAfterRead(first, draft, options))();
  }

  /** Without reading the log. Returns undefined: something else was appended since, and this does not count. */
  private async commitUnread<T>(
    { version, outcome, record }: Draft<T>,
    { durability }: Required<WriteOptions>,
  ): Promise<Outcome<T> | undefined> {
    if (!record) return (await this.isNewest(version)) ? outcome : undefined;
    // A reader of this tab may have read the log meanwhile: the number alone would say nothing of what was committed before.
    if (!this.isNewestKnown(version)) return undefined;
    const number = await this.tree.append(record, durability);
    return number === undefined ? undefined : outcome;
  }

  /**
   * In a transaction that reads the log and appends. There the body runs again only if something else was committed since. What it
   * returns without writing counts once the log has been read before it ran: waiting for a moment without commits, a body that takes
   * longer than another tab needs for one would wait for ever.
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
        // Something may have been committed meanwhile, if a block had to be loaded.
        return this.isNewestKnown(latest.version) ? latest.record : undefined;
      }, durability);
      if (number !== undefined && latest) return latest.outcome;
    }
  }

  /** What the body makes of the newest version that is known. */
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

  /** Whether nothing has been committed since; reads the log when that is not known. */
  private async isNewest(version: Version): Promise<boolean> {
    if (!this.tree.isCurrent()) await this.tree.refresh();
    return this.isNewestKnown(version);
  }
}

export type WriteBody<T> = (tx: WriteTx) => Promise<T>;

/** A transaction that is not committed. */
interface Draft<T> {
  /** What it has read. */
  readonly version: Version;
  readonly outcome: Outcome<T>;
  /** Undefined: it failed, or wrote nothing. */
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
