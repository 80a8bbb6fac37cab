/** The store port over a log and blocks. See docs/decisions/0014-packed-store.md. */
import { assert, Refusal } from '../errors.ts';
import {
  KeyTaken,
  SPACES,
  type Durability,
  type ReadOptions,
  type ReadTx,
  type Space,
  type Store,
  type WriteOptions,
  type WriteSet,
  type WriteTx,
} from '../store/port.ts';
import { partsOf } from './codec/log-parts.ts';
import { recordBytes, type LogRecord } from './codec/log-record.ts';
import { WrittenRows } from './commit.ts';
import { requireWithin, SnapshotTx } from './tree/snapshot-tx.ts';
import { Tree, type TreeOptions } from './tree/tree.ts';
import type { Version } from './tree/version.ts';

export type PackedStoreOptions = Pick<TreeOptions, 'medium'> & Partial<TreeOptions>;

const CACHE_BYTES_MAX = 32 * 1024 * 1024;

export class PackedStore implements Store {
  private readonly tree: Tree;
  private isClosed = false;
  /** Settles when all writes begun so far have ended. */
  private lastWrite: Promise<unknown> = Promise.resolve();

  constructor(options: PackedStoreOptions) {
    this.tree = new Tree({ cacheBytesMax: CACHE_BYTES_MAX, isAlone: () => false, ...options });
  }

  /** @throws Refusal `local_data_loss` when the log is damaged */
  async open(): Promise<void> {
    await this.tree.look();
  }

  async read<T>(body: (tx: ReadTx) => Promise<T>, { spaces }: ReadOptions = {}): Promise<T> {
    for (;;) {
      this.requireOpen();
      const tx = new SnapshotTx(this.tree, spaces);
      const outcome = await outcomeOf(() => body(tx));
      tx.release();
      if (!tx.gone) return outcome();
      await this.recover(tx);
    }
  }

  write<T>(
    body: (tx: WriteTx) => Promise<T>,
    { spaces = SPACES, durability }: WriteOptions,
  ): Promise<T> {
    const result = this.lastWrite.then(async () => {
      this.requireOpen();
      return this.commit(body, spaces, durability);
    });
    // Not with what the body returned: it may hold all that was read for it.
    const forgotten = (): void => undefined;
    this.lastWrite = result.then(forgotten, forgotten);
    return result;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.lastWrite;
    await this.tree.medium.close();
  }

  /** Runs the body on what is known, until nobody else was first. */
  private async commit<T>(
    body: (tx: WriteTx) => Promise<T>,
    spaces: readonly Space[],
    durability: Durability,
  ): Promise<T> {
    for (;;) {
      const { version } = this.tree;
      const tx = new SnapshotTx(this.tree, spaces, version);
      const written = new WrittenRows();
      const outcome = await outcomeOf(() => run(body, tx, written, spaces));
      tx.release();
      if (tx.gone) await this.recover(tx);
      else if (outcome.isFailure || written.isEmpty) {
        if (await this.isStill(version)) return outcome();
      } else if (await this.append(version, written, durability)) return outcome();
    }
  }

  /** Whether nothing has been committed since; looks at the log when that is not known. */
  private async isStill({ committed }: Version): Promise<boolean> {
    if (!this.tree.isCurrent()) await this.tree.look();
    return this.tree.version.committed === committed;
  }

  /** Returns false when something else was committed since this version. */
  private async append(
    version: Version,
    written: WrittenRows,
    durability: Durability,
  ): Promise<boolean> {
    const tx = new SnapshotTx(this.tree, SPACES, version);
    try {
      const former = await tx.fetch(written.needed, []);
      const record: LogRecord = { kind: 'commit', changes: written.changes(former.rows) };
      const parts = partsOf(recordBytes(record));
      do {
        const expected = this.tree.version.number + 1;
        if (await this.tree.medium.append(parts, expected, durability)) {
          this.tree.advance({ number: expected + parts.length - 1, record });
          return true;
        }
        await this.tree.look();
      } while (this.tree.version.committed === version.committed);
      return false;
    } catch (reason) {
      if (tx.gone) await this.recover(tx);
      // Of a row that somebody has deleted since it says nothing.
      else if (!(reason instanceof KeyTaken) || (await this.isStill(version))) throw reason;
      return false;
    } finally {
      tx.release();
    }
  }

  private async recover({ version, gone }: SnapshotTx): Promise<void> {
    if (version && gone) await this.tree.recover(version, gone);
  }

  private requireOpen(): void {
    if (this.isClosed)
      throw new Refusal('storage_unavailable', 'The store is closed. Open it again.');
  }
}

interface Outcome<T> {
  /** What the body returned, or throws what it threw. */
  (): T;
  readonly isFailure: boolean;
}

async function outcomeOf<T>(body: () => Promise<T>): Promise<Outcome<T>> {
  try {
    const value = await body();
    return Object.assign(() => value, { isFailure: false });
  } catch (reason) {
    const rethrow = (): never => {
      throw reason;
    };
    return Object.assign(rethrow, { isFailure: true });
  }
}

async function run<T>(
  body: (tx: WriteTx) => Promise<T>,
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
    return await body({ fetch: (...asked) => tx.fetch(...asked), apply });
  } finally {
    isOver = true;
  }
}
