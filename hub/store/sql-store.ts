/**
 * The store over a database that speaks the PostgreSQL protocol. Writes of one tenant run one after the other: a queue orders the
 * writes of this process, and a row that every write locks first orders those of different processes. So commits happen in the
 * order of that lock, which is the order of their times.
 */
import { WatchedRow } from '../../hosts/watched-row.ts';
import { assert, Refusal } from '../../src/errors.ts';
import {
  SPACES,
  type ReadOptions,
  type ReadTx,
  type Row,
  type RowAddress,
  type Space,
  type Store,
  type WriteOptions,
  type WriteTx,
} from '../../src/store/port.ts';
import { runSingleStatement } from './pending-writes.ts';
import { SharedReads } from './shared-reads.ts';
import {
  SqlFailure,
  type SqlConnection,
  type SqlDatabase,
  type Statement,
} from '../sql/sql-client.ts';
import { refusalFor } from '../sql/sql-refusals.ts';
import { ReadTransaction, SnapshotChanged, WriteTransaction } from './sql-transactions.ts';
import * as sql from '../sql/statements.ts';
import { LaneQueue } from './lane-queue.ts';

export interface SqlStoreOptions {
  readonly database: SqlDatabase;
  readonly tenant: string;
  /** Identifies this store among all stores that the tenant has ever had. */
  readonly writer: string;
  /** The lanes for which there is a mark of this store. Those of its commits are added. */
  readonly marked?: readonly sql.Lane[];
  /** Returns a number from 0 to 1. Used to spread retries. */
  readonly random: () => number;
  readonly wait: (ms: number) => Promise<void>;
  readonly watched?: HeadWatcher;
  /** See `refusalFor()`. */
  readonly report?: ((reason: unknown) => void) | undefined;
}

/** Observes writes that change one row. */
export interface HeadWatcher {
  readonly address: RowAddress;
  /** Called when a write of the row is about to be committed. */
  onWriting(row: Row): void;
  /**
   * Called when the commit failed or its outcome is unknown (so far): if it is later found committed, it must not be taken for a
   * commit of this store.
   */
  onFailed(row: Row): void;
  /** Called after the commit. @param before the row as its transaction had fetched it */
  onWritten(before: Row | undefined, row: Row): void;
}

/** How often a transaction is run if it conflicts with others or loses its connection. */
const ATTEMPTS_MAX = 10;
/** After `ATTEMPTS_MS`, no more than this many attempts: with a silent server, each attempt takes long to fail. */
const ATTEMPTS_MIN = 3;
const ATTEMPTS_MS = 20_000;
const CONTENTION_PAUSE_MS = 5;
const CONNECTION_PAUSE_MS = 50;
const PAUSE_MAX_MS = 1500;

/** The outcome of a write. `unknown`: the connection was lost during COMMIT. */
type Written<T> = { readonly value: T; readonly watch?: WatchedRow | undefined } & (
  | { readonly end: 'nothing' | 'committed' }
  | { readonly end: 'unknown'; readonly n: number; readonly reason: SqlFailure }
);

async function commit(connection: SqlConnection): Promise<void> {
  const [committed] = await connection.run([sql.commit([])]);
  assert(committed?.command === 'COMMIT', () => 'a transaction in which nothing failed commits');
}

export class SqlStore implements Store {
  private readonly options: SqlStoreOptions;
  private readonly shared: SharedReads;
  private readonly queue = new LaneQueue<sql.Lane>();
  private commits = 0;
  /** The lanes for which the mark of this store is there, unless another store has removed it. */
  private readonly marked: Set<sql.Lane>;
  private running = 0;
  private isClosed = false;
  /** Whether the last call failed because its connection was lost. */
  private isDown = false;
  private whenIdle: (() => void) | undefined = undefined;

  constructor(options: SqlStoreOptions) {
    this.options = options;
    this.shared = new SharedReads(options.database, options.tenant);
    this.marked = new Set(options.marked);
  }

  async read<T>(
    body: (tx: ReadTx) => Promise<T>,
    { spaces = SPACES }: ReadOptions = {},
  ): Promise<T> {
    const { database, tenant } = this.options;
    const { isExclusive } = database;
    let isSnapshot = isExclusive;
    return this.whileOpen(() =>
      this.retrying(async (connect) => {
        const { shared } = this;
        const tx = new ReadTransaction({
          tenant,
          spaces,
          isExclusive,
          isSnapshot,
          shared,
          connect,
        });
        try {
          return await body(tx);
        } catch (reason) {
          const cause = tx.failure ?? reason;
          isSnapshot ||= cause instanceof SnapshotChanged;
          throw cause;
        } finally {
          tx.end();
        }
      }),
    );
  }

  async write<T>(body: (tx: WriteTx) => Promise<T>, { spaces = SPACES }: WriteOptions): Promise<T> {
    const lanes = sql.lanesOf(spaces);
    return this.whileOpen(() =>
      this.queue.run(lanes, async () => {
        for (let attempts = 1; ; attempts += 1) {
          const written = await this.retrying(async (connect) =>
            this.tryWrite(await connect(), body, spaces, lanes),
          );
          if (written.end === 'unknown' && !(await this.wasCommitted(lanes, written.n))) {
            if (attempts >= ATTEMPTS_MAX) throw refusalFor(written.reason);
            continue;
          }
          if (written.end !== 'nothing') for (const lane of lanes) this.marked.add(lane);
          const { watch } = written;
          if (watch?.written) this.options.watched?.onWritten(watch.fetched, watch.written);
          return written.value;
        }
      }),
    );
  }

  /** Resolves when all transactions in progress have ended. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.running > 0)
      await new Promise<void>((idle) => {
        this.whenIdle = idle;
      });
    if (this.marked.size > 0) await this.forgetMarks();
  }

  private async forgetMarks(): Promise<void> {
    const { database, tenant, writer } = this.options;
    try {
      const connection = await database.connect();
      await connection.run([sql.forgetMarks(tenant, writer)]).finally(() => connection.release());
    } catch {
      // If this fails, a later store removes the marks.
    }
  }

  private async tryWrite<T>(
    connection: SqlConnection,
    body: (tx: WriteTx) => Promise<T>,
    spaces: readonly Space[],
    lanes: readonly sql.Lane[],
  ): Promise<Written<T>> {
    const { database, tenant, writer } = this.options;
    const tx = new WriteTransaction(connection, tenant, spaces, lanes);
    const watch = this.options.watched && new WatchedRow(tx, this.options.watched.address);
    const n = (this.commits += 1);
    const mark = sql.markCommit(tenant, lanes, writer, n);
    let value: T;
    let single: Statement | undefined;
    try {
      value = await body(watch ?? tx);
      single = database.isExclusive ? tx.singleStatement(mark) : undefined;
      const hasWrites = single !== undefined || (await tx.store(mark));
      if (!hasWrites) return { value, end: 'nothing' };
    } catch (reason) {
      tx.drop();
      throw tx.failure ?? reason;
    }
    if (watch?.written) this.options.watched?.onWriting(watch.written);
    try {
      await (single ? runSingleStatement(single, connection) : commit(connection));
      return { value, watch, end: 'committed' };
    } catch (reason) {
      if (watch?.written) this.options.watched?.onFailed(watch.written);
      if (reason instanceof SqlFailure && reason.isAmbiguousAtCommit)
        return { value, watch, end: 'unknown', n, reason };
      throw reason;
    }
  }

  /** Reads whether a commit whose connection was lost has been made. */
  private async wasCommitted(lanes: readonly sql.Lane[], n: number): Promise<boolean> {
    const { tenant, writer } = this.options;
    const [lane = sql.LANES.hot] = lanes;
    try {
      return await this.retrying(async (connect) => {
        const connection = await connect();
        // A commit still in progress holds the lock, so this waits until it has ended.
        const [, , marked] = await connection.run([
          sql.begin([]),
          sql.lock(tenant, lanes),
          sql.lastMark(tenant, lane, writer),
          sql.rollback([]),
        ]);
        const [mark] = marked?.rows ?? [];
        // Old marks are removed. If the server's clock has gone ahead, this one may have counted as old.
        if (!mark && this.marked.has(lane)) throw new Error('The mark of the last commit is gone.');
        return Number(mark?.[0]) === n;
      });
    } catch (reason) {
      throw new Refusal(
        'storage_unavailable',
        'The connection to the database was lost during a commit, and the database does not tell whether it happened: check whether the write was made before you retry it.',
        { cause: reason },
      );
    }
  }

  /** Runs `run`, and runs it again after a conflict or a lost connection. A connection is only taken when `run` calls `connect`. */
  private async retrying<T>(
    run: (connect: () => Promise<SqlConnection>) => Promise<T>,
  ): Promise<T> {
    const { database, random, wait } = this.options;
    const begunMs = performance.now();
    for (let attempts = 1; ; attempts += 1) {
      let connection: SqlConnection | undefined;
      let pause = 0;
      const connect = async (): Promise<SqlConnection> => (connection ??= await database.connect());
      try {
        const value = await run(connect);
        this.isDown = false;
        return value;
      } catch (reason) {
        if (!(reason instanceof SnapshotChanged)) {
          if (!(reason instanceof SqlFailure)) throw reason;
          const isLate = attempts >= ATTEMPTS_MIN && performance.now() - begunMs > ATTEMPTS_MS;
          if (!reason.isRetryable || isLate || attempts >= ATTEMPTS_MAX) throw this.refuse(reason);
          const first = reason.isConnectionLoss ? CONNECTION_PAUSE_MS : CONTENTION_PAUSE_MS;
          pause = random() * Math.min(PAUSE_MAX_MS, first * 2 ** attempts);
        }
      } finally {
        connection?.release();
      }
      if (pause > 0) await wait(pause);
    }
  }

  /** Reports an outage of the database only once. */
  private refuse(failure: SqlFailure): Refusal {
    const isReported = this.isDown && failure.isConnectionLoss;
    this.isDown = failure.isConnectionLoss;
    return refusalFor(failure, isReported ? undefined : this.options.report);
  }

  private async whileOpen<T>(run: () => Promise<T>): Promise<T> {
    if (this.isClosed)
      throw new Refusal('storage_unavailable', 'This store is closed: open it again.');
    this.running += 1;
    try {
      return await run();
    } finally {
      this.running -= 1;
      if (this.running === 0) this.whenIdle?.();
    }
  }
}
