/** What the store needs of a database that speaks the PostgreSQL protocol: batches of statements, each batch one round trip. */

/** Bytes are sent as they are; arrays are encoded by `sql-values.ts`. */
export type SqlValue = string | number | Buffer | null;

export interface Statement {
  /** The server prepares it under this name, once per connection: the same name always has the same text. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export interface SqlResult {
  /** As the server reports it: `SELECT`, `COMMIT`, `ROLLBACK`. */
  readonly command: string;
  /** Rows found or changed. */
  readonly count: number;
  /** Columns as text. */
  readonly rows: readonly (readonly (string | null)[])[];
}

export interface SqlConnection {
  /**
   * Sends all at once and waits for all results: one round trip.
   * @throws SqlFailure of the first statement that failed
   */
  run(statements: readonly Statement[]): Promise<readonly SqlResult[]>;
  /** Returns it to the pool, once; a broken one is not used again. */
  release(): void;
}

export interface SqlDatabase {
  /** @throws SqlFailure */
  connect(): Promise<SqlConnection>;
  /** There is one connection: whoever holds it sees no changes but its own. */
  readonly isExclusive: boolean;
  /** Batches sent since it was opened. */
  readonly roundTrips: number;
  /** Listens to a channel, under a name that others can look up. Undefined: the database has no channels. */
  listen(
    channel: string,
    name: string,
    onMessage: (payload: string) => void,
  ): SqlListener | undefined;
  close(): Promise<void>;
}

export interface SqlListener {
  /** Whether messages arrive now: not while the connection is made again, and never through a pooler. */
  readonly isListening: boolean;
  stop(): void;
}

/** A prepared statement that is gone, or no longer fits the tables. */
export const STATEMENT_GONE = '26000';

/**
 * Codes of SQLSTATE after which another connection is needed: class 08, the server going down, an ended session, a server that has
 * become a standby, `STATEMENT_GONE`.
 */
const LOST_CODE = /^(08...|57P0[1-5]|25P0[34]|25006|26000)$/u;

/** A statement failed, or the connection under it. */
export class SqlFailure extends Error {
  /** SQLSTATE; undefined when the failure did not come from the server. */
  readonly code: string | undefined;
  /** Which statement of the batch it was. */
  readonly at: number;

  constructor(description: string, code: string | undefined, at = 0, options?: ErrorOptions) {
    super(description, options);
    this.name = 'SqlFailure';
    this.code = code;
    this.at = at;
  }

  /** The connection is unusable; what was sent may have arrived or not. */
  get isConnectionLoss(): boolean {
    return this.code === undefined || LOST_CODE.test(this.code);
  }

  /** The whole transaction is to be run again. */
  get isContention(): boolean {
    return this.code === '40001' || this.code === '40P01';
  }

  /** Before COMMIT was sent, running the transaction again does nothing twice. */
  get isRetryable(): boolean {
    return this.isConnectionLoss || this.isContention || this.code === '40003';
  }

  /** What was asked is not there: at this server, or for this user. */
  get isUnsupported(): boolean {
    return /^(?:0A|42)/.test(this.code ?? '');
  }

  /** Whether a COMMIT that failed so may have committed all the same. */
  get isAmbiguousAtCommit(): boolean {
    return this.isConnectionLoss || this.code === '40003';
  }
}
