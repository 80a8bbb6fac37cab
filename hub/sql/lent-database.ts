/**
 * Lends connections of this thread's database to another thread that cannot open its own. A lent connection is used by one thread
 * at a time.
 */
import type { MessagePort } from 'node:worker_threads';
import type { CommitNotice } from '../../src/engine/host.ts';
import {
  SqlFailure,
  type SqlConnection,
  type SqlDatabase,
  type SqlResult,
  type Statement,
} from './sql-client.ts';
import { nextTurn, TURN_ROWS } from '../event-loop/next-turn.ts';

/** `n` identifies a connection of the borrower, `call` the request that an answer belongs to. */
export type ToLender =
  | { readonly type: 'connect'; readonly n: number; readonly call: number }
  | {
      readonly type: 'run';
      readonly n: number;
      readonly call: number;
      readonly statements: readonly Statement[];
    }
  | { readonly type: 'release'; readonly n: number }
  /** Sent before the connection is released, so that the lender knows of the commit before it uses the connection again. */
  | { readonly type: 'committed'; readonly notice: CommitNotice };

export interface FromLender {
  readonly call: number;
  /** Some rows of a large result, sent before `results`, which contains only the remaining rows. */
  readonly part?: { readonly at: number; readonly rows: SqlResult['rows'] };
  readonly results?: readonly SqlResult[];
  readonly failure?: Pick<SqlFailure, 'message' | 'code' | 'at'>;
}

export interface LentDatabaseOptions {
  readonly database: SqlDatabase;
  readonly port: MessagePort;
  readonly onCommitted: (notice: CommitNotice) => void;
  /**
   * Called with each connection that the borrower held when it ended, before anyone else gets it: its transaction state is
   * unknown.
   */
  readonly recover: (connection: SqlConnection) => Promise<void>;
}

const TRIES = 3;

export class LentDatabase {
  private readonly options: LentDatabaseOptions;
  /** Lent connections by their number, each with the last batch that was sent on it. */
  private readonly held = new Map<number, { connection: SqlConnection; last: Promise<unknown> }>();
  private hasEnded = false;

  constructor(options: LentDatabaseOptions) {
    this.options = options;
    options.port.on('message', (message: ToLender) => this.receive(message));
    options.port.unref();
  }

  /** Call this when the borrower has ended: recovers and releases its connections. */
  async end(): Promise<void> {
    this.hasEnded = true;
    this.options.port.close();
    for (const [n, { connection, last }] of this.held) {
      this.held.delete(n);
      await last;
      await this.recover(connection);
    }
  }

  /** Tries again on a new connection if this one was lost, because a lost connection cannot tell what the borrower committed. */
  private async recover(connection: SqlConnection, tried = 1): Promise<void> {
    const { database, recover } = this.options;
    try {
      await recover(connection).finally(() => connection.release());
    } catch (reason) {
      if (tried === TRIES) throw reason;
      await this.recover(await database.connect(), tried + 1);
    }
  }

  private receive(message: ToLender): void {
    if (message.type === 'committed') this.options.onCommitted(message.notice);
    else if (message.type === 'release') this.release(message.n);
    else void this.answer(message);
  }

  private release(n: number): void {
    this.held.get(n)?.connection.release();
    this.held.delete(n);
  }

  private async answer(message: Extract<ToLender, { readonly call: number }>): Promise<void> {
    const { call } = message;
    let answer: FromLender;
    try {
      if (message.type === 'connect') {
        await this.connect(message.n);
        answer = { call };
      } else {
        const results = await this.run(message.n, message.statements);
        answer = { call, results: await this.sendParts(call, results) };
      }
    } catch (reason) {
      const { message: text, code, at } = failureOf(reason);
      answer = { call, failure: { message: text, code, at } };
    }
    if (!this.hasEnded) this.options.port.postMessage(answer);
  }

  /**
   * Sends large results in parts, one per turn of the event loop, because serializing a long message blocks it.
   * @returns the rows that are still to be sent
   */
  private async sendParts(
    call: number,
    results: readonly SqlResult[],
  ): Promise<readonly SqlResult[]> {
    const left: SqlResult[] = [];
    for (const [at, result] of results.entries()) {
      const { rows } = result;
      let sent = 0;
      for (; rows.length - sent > TURN_ROWS && !this.hasEnded; sent += TURN_ROWS) {
        const part = { at, rows: rows.slice(sent, sent + TURN_ROWS) };
        this.options.port.postMessage({ call, part } satisfies FromLender);
        await nextTurn();
      }
      left.push(sent === 0 ? result : { ...result, rows: rows.slice(sent) });
    }
    return left;
  }

  private async connect(n: number): Promise<void> {
    const connection = await this.options.database.connect();
    if (this.hasEnded) connection.release();
    else this.held.set(n, { connection, last: Promise.resolve() });
  }

  private run(n: number, statements: readonly Statement[]): Promise<readonly SqlResult[]> {
    const held = this.held.get(n);
    if (!held) return Promise.reject(new SqlFailure('The connection was released.', undefined));
    const run = held.connection.run(statements.map(withBuffers));
    held.last = run.catch(() => undefined);
    return run;
  }
}

/** `postMessage` turns a `Buffer` into a plain `Uint8Array`: this makes it a `Buffer` again. */
const withBuffers = ({ name, text, values }: Statement): Statement => ({
  name,
  text,
  values: values.map((value: Statement['values'][number] | Uint8Array) =>
    value instanceof Uint8Array
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      : value,
  ),
});

const failureOf = (reason: unknown): SqlFailure =>
  reason instanceof SqlFailure ? reason : new SqlFailure(String(reason), undefined);
