/** What the store asks of a database that speaks the Postgres wire: batches of statements, each batch one round trip. */

/** Bytes are sent as they are; arrays come encoded by `sql-values.ts`. */
export type SqlValue = string | number | Buffer | null;

export interface Statement {
  /** Names it for the server, which prepares it once per connection; the same name always means the same text. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export interface SqlResult {
  /** What was done, as the server says: `SELECT`, `COMMIT`, `ROLLBACK`. */
  readonly command: string;
  /** Rows found or changed. */
  readonly count: number;
  /** Columns as text; bytes as `\x…`. */
  readonly rows: readonly (readonly (string | null)[])[];
}

export interface SqlConnection {
  /**
   * Sends all at once and waits for all answers: one round trip.
   * @throws SqlFailure of the first statement that failed
   */
  run(statements: readonly Statement[]): Promise<readonly SqlResult[]>;
  /** Gives it back, once; one that broke is used by nobody again. */
  release(): void;
}

export interface SqlDatabase {
  /** @throws SqlFailure */
  connect(): Promise<SqlConnection>;
  /** One connection for everybody: whoever has it sees no change but his own. */
  readonly isExclusive: boolean;
  /** Round trips until now: how many batches were sent. */
  readonly roundTrips: number;
  /** Hears the channel, under a name that others can look for; the way to stop. Undefined: this database has no such thing. */
  listen(
    channel: string,
    name: string,
    onMessage: (payload: string) => void,
  ): (() => void) | undefined;
  close(): Promise<void>;
}

/** Classes and codes of SQLSTATE after which the connection is gone: 08, the server going down, an ended session. */
const LOST_CODE = /^(08...|57P0[1-5]|25P0[34])$/u;

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

  /** Nothing more can be said over this connection; what was on its way may have arrived or not. */
  get isConnectionLoss(): boolean {
    return this.code === undefined || LOST_CODE.test(this.code);
  }

  /** The database asks to run the whole transaction again. */
  get isContention(): boolean {
    return this.code === '40001' || this.code === '40P01';
  }

  /** Before COMMIT was sent, nothing was done that would be done twice. */
  get mayTryAgain(): boolean {
    return this.isConnectionLoss || this.isContention || this.code === '40003';
  }

  /** Whether a COMMIT that ended so may have been done all the same. */
  get isAmbiguousAtCommit(): boolean {
    return this.isConnectionLoss || this.code === '40003';
  }
}
