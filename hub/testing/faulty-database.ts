/** Test kit: a database whose n-th statement fails, in each of the ways in which a server fails. */
import {
  SqlFailure,
  type SqlConnection,
  type SqlDatabase,
  type SqlResult,
  type Statement,
} from '../sql/sql-client.ts';

export interface Fault {
  /** SQLSTATE; undefined if the connection breaks without an error of the server. */
  readonly code: string | undefined;
  /** The number of the statement among those of the store, counted from 1. */
  readonly at: number;
  /** Fail after the statement was executed. For a COMMIT, the outcome is then unknown. */
  readonly isAfter: boolean;
}

const isOfTransaction = ({ name }: Statement): boolean => name.startsWith('burrow_');

export class FaultyDatabase implements SqlDatabase {
  readonly isExclusive: boolean;
  /** The next failure. Happens once. */
  fault: Fault | undefined = undefined;
  /** Statements so far; `fault.at` counts from the last time this was reset. */
  statements: Statement[] = [];
  /** The name of statements that are lost without an error. */
  losing: string | undefined = undefined;
  private readonly database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.database = database;
    this.isExclusive = database.isExclusive;
  }

  get roundTrips(): number {
    return this.database.roundTrips;
  }

  async connect(): Promise<SqlConnection> {
    const connection = await this.database.connect();
    let broken: SqlFailure | undefined;
    return {
      run: async (statements) => {
        if (broken) throw broken;
        try {
          return await this.run(connection, statements);
        } catch (reason) {
          if (reason instanceof SqlFailure && reason.isConnectionLoss) {
            broken = reason;
            // Rolls back, as a server does when its client is gone.
            await connection.run([ROLLBACK]).catch(() => undefined);
          }
          throw reason;
        }
      },
      release: () => connection.release(),
    };
  }

  listen(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    return this.database.close();
  }

  private async run(
    connection: SqlConnection,
    statements: readonly Statement[],
  ): Promise<readonly SqlResult[]> {
    const results: SqlResult[] = [];
    for (const [i, statement] of statements.entries()) {
      if (isOfTransaction(statement)) this.statements.push(statement);
      const { fault } = this;
      const isHit = fault !== undefined && this.statements.length === fault.at;
      if (isHit) this.fault = undefined;
      if (isHit && !fault.isAfter) {
        // Rolls back: on a server, the failure ends the transaction too.
        await connection.run([ROLLBACK]);
        throw failure(fault, i);
      }
      const isLost = statement.name === this.losing;
      if (isLost) results.push(NOTHING);
      else results.push(await runOne(connection, statement, i));
      if (isHit) throw failure(fault, i);
    }
    return results;
  }
}

async function runOne(
  connection: SqlConnection,
  statement: Statement,
  at: number,
): Promise<SqlResult> {
  try {
    const [result = NOTHING] = await connection.run([statement]);
    return result;
  } catch (reason) {
    if (!(reason instanceof SqlFailure)) throw reason;
    throw new SqlFailure(reason.message, reason.code, at, { cause: reason });
  }
}

const NOTHING: SqlResult = { command: 'INSERT', count: 0, rows: [] };
const ROLLBACK: Statement = { name: '', text: 'ROLLBACK', values: [] };

const failure = ({ code }: Fault, at: number): SqlFailure =>
  new SqlFailure(`As planned: ${code ?? 'the connection broke'}.`, code, at);
