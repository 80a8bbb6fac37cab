/**
 * The store over a database that speaks the Postgres wire. Writes of one tenant take turns: here in a queue, among processes on a
 * row that each locks first. So commits are in the order of that lock, which is the order of their times.
 */
import type { Key } from '../../src/codec/key.ts';
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
  type WriteSet,
  type WriteTx,
} from '../../src/store/port.ts';
import { runWhole } from './pending-writes.ts';
import { SharedReads } from './shared-reads.ts';
import {
  SqlFailure,
  type SqlConnection,
  type SqlDatabase,
  type Statement,
} from '../sql/sql-client.ts';
import { refusalFor } from '../sql/sql-refusals.ts';
import { Moved, ReadTransaction, WriteTransaction } from './sql-transactions.ts';
import * as sql from '../sql/statements.ts';
import { TurnQueue } from './turn-queue.ts';

export interface SqlStoreOptions {
  readonly database: SqlDatabase;
  readonly tenant: string;
  /** Names this store among all there ever were on the tenant. */
  readonly writer: string;
  /** From 0 to 1: spreads those who try again. */
  readonly random: () => number;
  readonly wait: (ms: number) => Promise<void>;
  readonly watched?: HeadWatcher;
}

/** Hears of the writes that change one row. */
export interface HeadWatcher {
  readonly address: RowAddress;
  /** A write of it is about to be committed. */
  onWriting(row: Row): void;
  /** It was. `before`: what its transaction had fetched. */
  onWritten(before: Row | undefined, row: Row): void;
}

/** Times a transaction is run when others were in its way, or its connection was lost. */
const TRIES_MAX = 10;
const CONTENTION_PAUSE_MS = 5;
const CONNECTION_PAUSE_MS = 50;
const PAUSE_MAX_MS = 1500;

/** How a write ended. `unknown`: its connection was lost while it committed. */
type Written<T> = { readonly value: T; readonly watch?: HeadWatch | undefined } & (
  | { readonly end: 'nothing' | 'committed' }
  | { readonly end: 'unknown'; readonly n: number; readonly reason: SqlFailure }
);

/** Sees the watched row go by. */
class HeadWatch implements WriteTx {
  fetched: Row | undefined = undefined;
  written: Row | undefined = undefined;
  private readonly tx: WriteTx;
  private readonly address: RowAddress;

  constructor(tx: WriteTx, address: RowAddress) {
    this.tx = tx;
    this.address = address;
  }

  async fetch(...asked: Parameters<WriteTx['fetch']>): ReturnType<WriteTx['fetch']> {
    const found = await this.tx.fetch(...asked);
    const [rows] = asked;
    const at = rows.findIndex((each) => this.isWatched(each.space, each.key));
    if (at >= 0) this.fetched = found.rows[at];
    return found;
  }

  apply(writes: WriteSet): void {
    this.tx.apply(writes);
    for (const { space, row } of writes.puts)
      if (this.isWatched(space, row.key)) this.written = row;
  }

  private isWatched(space: Space, key: Key): boolean {
    return space === this.address.space && key === this.address.key;
  }
}

async function commit(connection: SqlConnection): Promise<void> {
  const [committed] = await connection.run([sql.commit([])]);
  assert(committed?.command === 'COMMIT', () => 'a transaction in which nothing failed commits');
}

export class SqlStore implements Store {
  private readonly options: SqlStoreOptions;
  private readonly shared: SharedReads;
  private readonly turns = new TurnQueue<sql.Lane>();
  private commits = 0;
  private running = 0;
  private isClosed = false;
  private whenIdle: (() => void) | undefined = undefined;

  constructor(options: SqlStoreOptions) {
    this.options = options;
    this.shared = new SharedReads(options.database, options.tenant);
  }

  async read<T>(
    body: (tx: ReadTx) => Promise<T>,
    { spaces = SPACES }: ReadOptions = {},
  ): Promise<T> {
    const { database, tenant } = this.options;
    const { isExclusive } = database;
    let isSnapshot = isExclusive;
    return this.whileOpen(() =>
      this.trying(async (connect) => {
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
          isSnapshot ||= cause instanceof Moved;
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
      this.turns.run(lanes, async () => {
        for (let tries = 1; ; tries += 1) {
          const written = await this.trying(async (connect) =>
            this.tryWrite(await connect(), body, spaces, lanes),
          );
          if (written.end === 'unknown' && !(await this.hasArrived(lanes, written.n))) {
            if (tries >= TRIES_MAX) throw refusalFor(written.reason);
            continue;
          }
          const { watch } = written;
          if (watch?.written) this.options.watched?.onWritten(watch.fetched, watch.written);
          return written.value;
        }
      }),
    );
  }

  /** Resolves when what was under way has ended. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.running > 0)
      await new Promise<void>((idle) => {
        this.whenIdle = idle;
      });
    if (this.commits > 0) await this.forgetMarks();
  }

  private async forgetMarks(): Promise<void> {
    const { database, tenant, writer } = this.options;
    try {
      const connection = await database.connect();
      await connection.run([sql.forgetMarks(tenant, writer)]).finally(() => connection.release());
    } catch {
      // A later store sweeps them up.
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
    const watch = this.options.watched && new HeadWatch(tx, this.options.watched.address);
    const n = (this.commits += 1);
    const mark = sql.markCommit(tenant, lanes, writer, n);
    let value: T;
    let whole: Statement | undefined;
    try {
      value = await body(watch ?? tx);
      whole = database.isExclusive ? tx.atOnce(mark) : undefined;
      const hasWrites = whole !== undefined || (await tx.store(mark));
      if (!hasWrites) return { value, end: 'nothing' };
    } catch (reason) {
      tx.drop();
      throw tx.failure ?? reason;
    }
    if (watch?.written) this.options.watched?.onWriting(watch.written);
    try {
      await (whole ? runWhole(whole, connection) : commit(connection));
      return { value, watch, end: 'committed' };
    } catch (reason) {
      if (reason instanceof SqlFailure && reason.isAmbiguousAtCommit)
        return { value, watch, end: 'unknown', n, reason };
      throw reason;
    }
  }

  /** Reads whether a commit was done, whose connection was lost. */
  private async hasArrived(lanes: readonly sql.Lane[], n: number): Promise<boolean> {
    const { tenant, writer } = this.options;
    const [lane = sql.LANES.hot] = lanes;
    try {
      return await this.trying(async (connect) => {
        const connection = await connect();
        // If it is still being done it holds the lock: this waits for its end.
        const [, , marked] = await connection.run([
          sql.begin([]),
          sql.lock(tenant, lanes),
          sql.lastMark(tenant, lane, writer),
          sql.rollback([]),
        ]);
        return Number(marked?.rows[0]?.[0]) === n;
      });
    } catch (reason) {
      throw new Refusal(
        'storage_unavailable',
        'The connection to the database was lost while it stored a write, and cannot be had again: look before you write it again.',
        { cause: reason },
      );
    }
  }

  /** Runs it with a connection of its own if it asks for one, and again when another transaction was in the way or the connection was lost. */
  private async trying<T>(
    attempt: (connect: () => Promise<SqlConnection>) => Promise<T>,
  ): Promise<T> {
    const { database, random, wait } = this.options;
    for (let tries = 1; ; tries += 1) {
      let connection: SqlConnection | undefined;
      let pause = 0;
      const connect = async (): Promise<SqlConnection> => (connection ??= await database.connect());
      try {
        return await attempt(connect);
      } catch (reason) {
        if (!(reason instanceof Moved)) {
          if (!(reason instanceof SqlFailure)) throw reason;
          if (!reason.mayTryAgain || tries >= TRIES_MAX) throw refusalFor(reason);
          const first = reason.isConnectionLoss ? CONNECTION_PAUSE_MS : CONTENTION_PAUSE_MS;
          pause = random() * Math.min(PAUSE_MAX_MS, first * 2 ** tries);
        }
      } finally {
        connection?.release();
      }
      if (pause > 0) await wait(pause);
    }
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
