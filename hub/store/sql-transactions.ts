/** Read and write transactions of the store, each on one connection. */
import { assert, Refusal } from '../../src/errors.ts';
import {
  requireWithin,
  type Found,
  type Range,
  type ReadTx,
  type Row,
  type RowAddress,
  type Space,
  type WriteSet,
  type WriteTx,
} from '../../src/store/port.ts';
import { planFetch, type FetchPlan, type FetchRequest } from './fetch-plan.ts';
import { PendingWrites } from './pending-writes.ts';
import { SHARED_ROWS_MAX, type SharedReads } from './shared-reads.ts';
import type { SqlConnection, SqlResult, Statement } from '../sql/sql-client.ts';
import * as sql from '../sql/statements.ts';
import { nextTurn, TURN_ROWS } from '../event-loop/next-turn.ts';

/** @param only the rows, if nothing but rows is fetched */
type Send = (
  statements: readonly Statement[],
  only?: readonly RowAddress[],
) => Promise<readonly SqlResult[]>;

/** Runs fetches one after the other and keeps the first failure. */
abstract class Transaction implements ReadTx {
  /** The reason why the transaction cannot continue, even if its body has caught the error. */
  failure: unknown = undefined;
  protected readonly tenant: string;
  protected readonly spaces: readonly Space[];
  private last: Promise<unknown> = Promise.resolve();

  constructor(tenant: string, spaces: readonly Space[]) {
    this.tenant = tenant;
    this.spaces = spaces;
  }

  async fetch(
    rows: readonly RowAddress[],
    ranges: readonly Range[],
    bytesMax = Infinity,
  ): Promise<Found> {
    for (const { space } of [...rows, ...ranges]) requireWithin(this.spaces, space);
    const fetched = this.last.then(() => this.fetchNow({ rows, ranges, bytesMax }));
    this.last = fetched.catch(() => undefined);
    return fetched;
  }

  protected abstract readonly send: Send;

  private async fetchNow(request: FetchRequest): Promise<Found> {
    try {
      const plan = planFetch(this.tenant, request, false);
      const only = request.ranges.length === 0 ? request.rows : undefined;
      const found = await this.readBy(plan, only);
      if (found !== 'long entries') return found;
      const exact = planFetch(this.tenant, request, true);
      const again = await this.readBy(exact);
      assert(again !== 'long entries', () => 'the exact plan reads entries of any length');
      return again;
    } catch (reason) {
      this.failure ??= reason;
      throw reason;
    }
  }

  /**
   * Parses large results in a turn of the event loop of their own: they arrived in the turn before, and the body continues in the
   * turn after.
   */
  private async readBy(
    { statements, read }: FetchPlan,
    only?: readonly RowAddress[],
  ): Promise<ReturnType<FetchPlan['read']>> {
    const results = await this.send(statements, only);
    const isLarge = results.some(({ rows }) => rows.length > TURN_ROWS);
    if (isLarge) await nextTurn();
    const found = read(results);
    if (isLarge) await nextTurn();
    return found;
  }
}

/** Data of the first fetch have changed before the second one. The body runs again, in a snapshot. */
export class SnapshotChanged extends Error {}

export interface ReadTransactionOptions {
  readonly tenant: string;
  readonly spaces: readonly Space[];
  /** No other connection exists, so nothing can change while this transaction holds the connection. */
  readonly isExclusive: boolean;
  /** Start a snapshot with the first fetch. */
  readonly isSnapshot: boolean;
  /** Combines the first fetch with those of other transactions. */
  readonly shared: SharedReads;
  /** Takes a connection on the first call. The transaction keeps it until it ends. */
  readonly connect: () => Promise<SqlConnection>;
}

/**
 * A read transaction. A single statement already sees one snapshot, and most reads need only one statement. A second fetch begins
 * a database transaction, which first repeats the earlier statements and checks that their results are unchanged.
 */
export class ReadTransaction extends Transaction {
  private readonly options: ReadTransactionOptions;
  private holdsConnection = false;
  /** The connection on which a snapshot is open. */
  private open: SqlConnection | undefined = undefined;
  private seen: { statements: readonly Statement[]; results: readonly SqlResult[] } | undefined =
    undefined;

  constructor(options: ReadTransactionOptions) {
    super(options.tenant, options.spaces);
    this.options = options;
  }

  /** Connections are few. */
  get canWait(): boolean {
    return !this.holdsConnection;
  }

  /** Not awaited: the next user of the connection is served after the COMMIT anyway. */
  end(): void {
    this.open?.run([sql.commit([])]).catch(() => undefined);
  }

  protected readonly send: Send = async (statements, only) => {
    const { seen } = this;
    const { isExclusive, isSnapshot } = this.options;
    if (statements.length === 0) return [];
    if (this.open) return this.open.run(statements);
    if (isExclusive) return (await this.connect()).run(statements);
    if (!seen && statements.length === 1 && !isSnapshot) {
      const results = await this.first(statements, only);
      this.seen = { statements, results };
      return results;
    }
    this.open = await this.connect();
    const before = seen?.statements ?? [];
    const [, ...results] = await this.open.run([sql.beginSnapshot([]), ...before, ...statements]);
    const isSame = before.every((_, i) => isSameResult(results[i], seen?.results[i]));
    if (!isSame) throw new SnapshotChanged();
    return results.slice(before.length);
  };

  private async first(
    statements: readonly Statement[],
    only: readonly RowAddress[] | undefined,
  ): Promise<readonly SqlResult[]> {
    const { shared } = this.options;
    if (only && only.length <= SHARED_ROWS_MAX) return [await shared.rows(only)];
    return (await this.connect()).run(statements);
  }

  private connect(): Promise<SqlConnection> {
    this.holdsConnection = true;
    return this.options.connect();
  }
}

/** Reads a row on a connection that nobody else uses. */
export async function rowOver(
  connection: SqlConnection,
  tenant: string,
  address: RowAddress,
): Promise<Row | undefined> {
  const { statements, read } = planFetch(
    tenant,
    { rows: [address], ranges: [], bytesMax: Infinity },
    true,
  );
  const found = read(await connection.run(statements));
  assert(found !== 'long entries', () => 'the exact plan reads entries of any length');
  return found.rows[0];
}

/** Results are compared in order first, because the same statement usually returns its rows in the same order; only then as sets. */
function isSameResult(a: SqlResult | undefined, b: SqlResult | undefined): boolean {
  if (!a || !b || a.rows.length !== b.rows.length) return a === b;
  if (a.rows.every((row, at) => isSameRow(row, b.rows[at]))) return true;
  return (
    JSON.stringify(a.rows.map(joined).toSorted()) === JSON.stringify(b.rows.map(joined).toSorted())
  );
}

type SqlRow = SqlResult['rows'][number];

const isSameRow = (a: SqlRow, b: SqlRow | undefined): boolean =>
  a.length === b?.length && a.every((column, at) => column === b[at]);

const joined = (row: SqlRow): string => JSON.stringify(row);

/** A write transaction. Holds the locks of its lanes' sequencer rows from its first statement to its end. */
export class WriteTransaction extends Transaction implements WriteTx {
  private readonly connection: SqlConnection;
  private readonly lanes: readonly sql.Lane[];
  private readonly pending = new PendingWrites();
  private hasStarted = false;
  private isOver = false;

  constructor(
    connection: SqlConnection,
    tenant: string,
    spaces: readonly Space[],
    lanes: readonly sql.Lane[],
  ) {
    super(tenant, spaces);
    this.connection = connection;
    this.lanes = lanes;
  }

  apply(writes: WriteSet): void {
    assert(!this.isOver, () => 'the body of a write applies nothing after it has ended');
    for (const { space } of [...writes.puts, ...writes.deletes]) requireWithin(this.spaces, space);
    this.pending.add(writes);
  }

  /**
   * Call this after the body has succeeded.
   * @returns the whole write as a single statement, if nothing was fetched and the writes allow it
   */
  singleStatement(mark: Statement): Statement | undefined {
    if (this.hasStarted || this.failure !== undefined || this.pending.isEmpty) return undefined;
    return this.pending.singleStatement(this.tenant, mark, this.lanes.length);
  }

  /**
   * Call this after the body has succeeded.
   * @returns whether there is anything to commit
   */
  async store(mark: Statement): Promise<boolean> {
    this.isOver = true;
    if (this.failure !== undefined) throw this.failure;
    if (this.pending.isEmpty) {
      this.drop();
      return false;
    }
    const opening = this.opening();
    await this.pending.store(this.connection, this.tenant, [...opening, mark], (results) => {
      if (opening.length > 0) this.requireLocked(results);
      assert(results.at(-1)?.count === this.lanes.length, () => 'a commit is marked in each lane');
    });
    return true;
  }

  /** Rolls back. Does not wait for the result. */
  drop(): void {
    this.isOver = true;
    if (this.hasStarted) this.connection.run([sql.rollback([])]).catch(() => undefined);
  }

  protected readonly send: Send = async (statements) => {
    if (statements.length === 0) return [];
    const opening = this.opening();
    const results = await this.connection.run([...opening, ...statements]);
    if (opening.length > 0) this.requireLocked(results);
    return results.slice(opening.length);
  };

  private opening(): readonly Statement[] {
    if (this.hasStarted) return [];
    this.hasStarted = true;
    return [sql.begin([]), sql.lock(this.tenant, this.lanes)];
  }

  private requireLocked([, locked]: readonly SqlResult[]): void {
    if (locked?.count === this.lanes.length) return;
    throw new Refusal(
      'storage_unavailable',
      'The database has lost the row that orders its writes: restore it from a backup.',
    );
  }
}
