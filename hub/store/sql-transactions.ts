/** A read and a write of the store, each on one connection. */
import { assert, Refusal } from '../../src/errors.ts';
import type { Range, ReadTx, RowAddress, Space, WriteSet, WriteTx } from '../../src/store/port.ts';
import { planFetch, type Found } from './fetch-plan.ts';
import { PendingWrites } from './pending-writes.ts';
import type { SqlConnection, SqlResult, Statement } from './sql-client.ts';
import * as sql from './statements.ts';

type Send = (statements: readonly Statement[]) => Promise<readonly SqlResult[]>;

/** Fetches one after the other; the first failure stays. */
abstract class Transaction implements ReadTx {
  /** Why nothing more will come of it, whatever the body makes of that. */
  failure: unknown = undefined;
  protected readonly connection: SqlConnection;
  protected readonly tenant: string;
  private readonly spaces: readonly Space[];
  private last: Promise<unknown> = Promise.resolve();

  constructor(connection: SqlConnection, tenant: string, spaces: readonly Space[]) {
    this.connection = connection;
    this.tenant = tenant;
    this.spaces = spaces;
  }

  async fetch(rows: readonly RowAddress[], ranges: readonly Range[]): Promise<Found> {
    for (const { space } of [...rows, ...ranges]) this.requireWithin(space);
    const fetched = this.last.then(() => this.fetchNow(rows, ranges));
    this.last = fetched.catch(() => undefined);
    return fetched;
  }

  protected abstract readonly send: Send;

  protected requireWithin(space: Space): void {
    assert(
      this.spaces.includes(space),
      () => `this transaction covers ${this.spaces.join(', ')}, not ${space}`,
    );
  }

  private async fetchNow(rows: readonly RowAddress[], ranges: readonly Range[]): Promise<Found> {
    try {
      const plan = planFetch(this.tenant, rows, ranges, false);
      const found = plan.read(await this.send(plan.statements));
      if (found !== 'long entries') return found;
      const exact = planFetch(this.tenant, rows, ranges, true);
      const again = exact.read(await this.send(exact.statements));
      assert(again !== 'long entries', () => 'the exact plan reads entries of any length');
      return again;
    } catch (reason) {
      this.failure ??= reason;
      throw reason;
    }
  }
}

/** What was fetched first has changed before the second fetch: the body is run again, in a snapshot. */
export class Moved extends Error {}

export interface ReadTransactionOptions {
  readonly tenant: string;
  readonly spaces: readonly Space[];
  /** Nobody else can change anything while it has the connection. */
  readonly isExclusive: boolean;
  /** A transaction from the first fetch on. */
  readonly isSnapshot: boolean;
}

/**
 * One statement is a snapshot by itself, and most reads are one. Whoever fetches again gets a transaction that first looks
 * whether what was seen still stands.
 */
export class ReadTransaction extends Transaction {
  private readonly isExclusive: boolean;
  private readonly isSnapshot: boolean;
  private isOpen = false;
  private seen: { statements: readonly Statement[]; results: readonly SqlResult[] } | undefined =
    undefined;

  constructor(connection: SqlConnection, options: ReadTransactionOptions) {
    super(connection, options.tenant, options.spaces);
    this.isExclusive = options.isExclusive;
    this.isSnapshot = options.isSnapshot;
  }

  /** Sent, not waited for: whoever gets the connection next is answered after it. */
  end(): void {
    if (this.isOpen) this.connection.run([sql.commit([])]).catch(() => undefined);
  }

  protected readonly send: Send = async (statements) => {
    const { connection, seen } = this;
    if (statements.length === 0) return [];
    if (this.isExclusive || this.isOpen) return connection.run(statements);
    if (!seen && statements.length === 1 && !this.isSnapshot) {
      const results = await connection.run(statements);
      this.seen = { statements, results };
      return results;
    }
    this.isOpen = true;
    const before = seen?.statements ?? [];
    const [, ...results] = await connection.run([sql.beginSnapshot([]), ...before, ...statements]);
    const isSame = before.every((_, i) => isSameResult(results[i], seen?.results[i]));
    if (!isSame) throw new Moved();
    return results.slice(before.length);
  };
}

const isSameResult = (a: SqlResult | undefined, b: SqlResult | undefined): boolean =>
  a?.rows.length === b?.rows.length &&
  JSON.stringify(a?.rows.map(joined).toSorted()) === JSON.stringify(b?.rows.map(joined).toSorted());

const joined = (row: SqlResult['rows'][number]): string => JSON.stringify(row);

/** Holds the sequencer of its lanes from its first statement to its end. */
export class WriteTransaction extends Transaction implements WriteTx {
  private readonly lanes: readonly sql.Lane[];
  private readonly pending = new PendingWrites();
  private isBegun = false;
  private isOver = false;

  constructor(
    connection: SqlConnection,
    tenant: string,
    spaces: readonly Space[],
    lanes: readonly sql.Lane[],
  ) {
    super(connection, tenant, spaces);
    this.lanes = lanes;
  }

  apply(writes: WriteSet): void {
    assert(!this.isOver, () => 'a write body applies nothing after it has ended');
    for (const { space } of [...writes.puts, ...writes.deletes]) this.requireWithin(space);
    this.pending.add(writes);
  }

  /** The body has ended well. Returns whether there is anything to commit. */
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

  /** Gives everything up. Sent, not waited for. */
  drop(): void {
    this.isOver = true;
    if (this.isBegun) this.connection.run([sql.rollback([])]).catch(() => undefined);
  }

  protected readonly send: Send = async (statements) => {
    if (statements.length === 0) return [];
    const opening = this.opening();
    const results = await this.connection.run([...opening, ...statements]);
    if (opening.length > 0) this.requireLocked(results);
    return results.slice(opening.length);
  };

  private opening(): readonly Statement[] {
    if (this.isBegun) return [];
    this.isBegun = true;
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
