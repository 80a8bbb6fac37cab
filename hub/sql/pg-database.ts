/** Speaks the PostgreSQL protocol through `pg`: to a server over a socket, to PGlite over a stream to its thread. */
import type { Duplex } from 'node:stream';
import {
  Client,
  DatabaseError,
  Pool,
  type PoolClient,
  type PoolConfig,
  type QueryArrayResult,
} from 'pg';
import {
  SqlFailure,
  STATEMENT_GONE,
  type SqlConnection,
  type SqlDatabase,
  type SqlListener,
  type SqlResult,
  type Statement,
} from './sql-client.ts';
import { TURN_BYTES } from '../event-loop/next-turn.ts';
import { messageOf } from '../../hosts/node-errors.ts';

export interface PgDatabaseOptions {
  readonly pool: PoolConfig;
  readonly isExclusive: boolean;
  readonly canListen: boolean;
  /**
   * Milliseconds to wait for an answer. A server that is silent for longer counts as gone, even if its socket is open, and the
   * connection is closed as lost.
   */
  readonly answerMs?: number;
  /** Resolves when everything else that `close()` has to wait for has ended. */
  readonly ended?: () => Promise<unknown>;
}

const NOT_SUPPORTED = '0A000';
const OWN_PROCESS = 'SELECT pg_backend_pid()';

/**
 * Each statement of the store is meant to use a primary key. Without these settings, a planner that has no statistics yet of a
 * table that was empty a moment ago would scan it. Servers that do not know a setting refuse it, and then plan in their own way.
 */
const SETTINGS = [
  'SET enable_seqscan = off',
  'SET enable_bitmapscan = off',
  'SET enable_hashjoin = off',
  'SET enable_mergejoin = off',
  'SET plan_cache_mode = force_generic_plan',
  'SET jit = off',
  // Ends the session of a client that vanished in the middle of a write, so that its lock on the sequencer row is released.
  "SET idle_in_transaction_session_timeout = '15s'",
];

const RELISTEN_MS = 1000;

export class PgDatabase implements SqlDatabase {
  readonly isExclusive: boolean;
  roundTrips = 0;
  private readonly options: PgDatabaseOptions;
  private readonly pool: Pool;
  private readonly isSetUp = new WeakSet<PoolClient>();
  /** Connections whose prepared statements fit the tables. Replaced by an empty set when a table was altered. */
  private current = new WeakSet<PoolClient>();
  /**
   * Connections through a pooler, which may use another server connection for each transaction: session state (settings, prepared
   * statements) is lost.
   */
  private readonly isPooled = new WeakSet<PoolClient>();
  /** True after `close()` was called: no more requests are sent. */
  isClosed = false;

  constructor(options: PgDatabaseOptions) {
    this.options = options;
    this.isExclusive = options.isExclusive;
    // In pipeline mode, `pg` sends statements without waiting for the results of earlier ones.
    const config: PoolConfig & { pipeline: boolean } = { ...options.pool, pipeline: true };
    this.pool = new Pool(config);
    // The pool removes an idle connection that breaks, so its error needs no handling.
    this.pool.on('error', ignore);
    // A connection that breaks while in use fails its statement, so the event is ignored. The listener is attached at once
    // because a server may greet and end the session in the same packet.
    this.pool.on('connect', (client) => {
      this.current.add(client);
      client.on('error', ignore);
      readInTurns(streamOf(client));
    });
  }

  async connect(): Promise<SqlConnection> {
    let client: PoolClient;
    try {
      client = await this.pool.connect();
    } catch (reason) {
      throw failureOf(reason, 0);
    }
    if (!this.current.has(client)) {
      client.release(true);
      return this.connect();
    }
    let isBroken = false;
    const onBreak = (reason: unknown): never => {
      if (reason instanceof SqlFailure) {
        isBroken ||= reason.isConnectionLoss;
        // Another connection of the same time may have found this before, and newer ones may have been opened.
        const isNews = reason.code === STATEMENT_GONE && this.current.has(client);
        if (isNews) this.current = new WeakSet();
      }
      throw reason;
    };
    const connection: SqlConnection = {
      run: (statements) => this.run(client, statements).catch(onBreak),
      release: () => client.release(isBroken),
    };
    if (this.isSetUp.has(client)) return connection;
    try {
      await this.setUp(client).catch(onBreak);
    } catch (reason) {
      connection.release();
      throw reason;
    }
    return connection;
  }

  listen(
    channel: string,
    name: string,
    onMessage: (payload: string) => void,
  ): SqlListener | undefined {
    if (!this.options.canListen) return undefined;
    let isStopped = false;
    let isListening = false;
    let client: Client | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const reconnect = (): void => {
      client = undefined;
      isListening = false;
      if (isStopped) return;
      timer = setTimeout(start, RELISTEN_MS);
      timer.unref();
    };
    const start = (): void => {
      const fresh = new Client(this.listenerConfig(name));
      client = fresh;
      fresh.on('error', ignore);
      fresh.on('notification', ({ payload = '' }) => onMessage(payload));
      fresh.once('end', reconnect);
      fresh
        .connect()
        .then(() => listenOn(fresh, channel))
        .then(() => {
          isListening = true;
        })
        .catch((reason: unknown) => {
          // If LISTEN is unsupported, stop: the callers poll anyway. Other errors, such as too many connections, may pass, so it
          // is retried.
          if (failureOf(reason, 0).isUnsupported) isStopped = true;
          void fresh.end().catch(() => undefined);
        });
    };
    start();
    return {
      get isListening() {
        return isListening;
      },
      stop: () => {
        isStopped = true;
        clearTimeout(timer);
        void client?.end().catch(() => undefined);
      },
    };
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.pool.end();
    await this.options.ended?.();
  }

  private listenerConfig(name: string): PoolConfig {
    const { pool, answerMs } = this.options;
    const named = { ...pool, application_name: name };
    return answerMs === undefined ? named : { ...named, query_timeout: answerMs };
  }

  private async setUp(client: PoolClient): Promise<void> {
    this.roundTrips += 1;
    if (!this.isExclusive && (await this.inTime(client, isBehindPooler(client)))) {
      this.isPooled.add(client);
      this.isSetUp.add(client);
      return;
    }
    const asked = SETTINGS.map((text) => client.query(text));
    const settled = await this.inTime(client, Promise.allSettled(asked));
    this.roundTrips += 1;
    for (const each of settled) {
      if (each.status === 'fulfilled') continue;
      const failure = failureOf(each.reason, 0);
      if (failure.isConnectionLoss) throw failure;
    }
    this.isSetUp.add(client);
  }

  private async run(
    client: PoolClient,
    statements: readonly Statement[],
  ): Promise<readonly SqlResult[]> {
    this.roundTrips += 1;
    const stream = streamOf(client);
    // `pg` writes each statement separately. While the stream is corked they collect into one packet, and the server wakes up
    // once.
    stream.cork();
    let settling: Promise<Settled[]>;
    try {
      const isNamed = !this.isPooled.has(client);
      settling = Promise.all(statements.map((statement) => settle(client, statement, isNamed)));
    } finally {
      stream.uncork();
    }
    return (await this.inTime(client, settling)).map(({ result, reason }, at) => {
      if (!result) throw failureOf(reason, at);
      const { command, rowCount, rows } = result;
      return { command, count: rowCount ?? 0, rows };
    });
  }

  /**
   * Closes the connection if `result` takes longer than `answerMs`. One timer for the whole batch: `pg` would use one per
   * statement.
   */
  private async inTime<T>(client: PoolClient, result: Promise<T>): Promise<T> {
    const { answerMs } = this.options;
    if (answerMs === undefined) return result;
    const late = setTimeout(() => streamOf(client).destroy(), answerMs);
    try {
      return await result;
    } finally {
      clearTimeout(late);
    }
  }
}

/** @throws SqlFailure behind a pooler, where the LISTEN would take effect on a server connection that other clients use */
async function listenOn(client: Client, channel: string): Promise<void> {
  if (await isBehindPooler(client)) throw new SqlFailure('behind a pooler', NOT_SUPPORTED);
  await client.query(`LISTEN ${channel}`);
}

/**
 * Detects a pooler such as PgBouncer, which greets clients itself: the process id of the greeting then differs from that of the
 * backend that answers. A server that does not support process ids counts as direct.
 * @throws SqlFailure when the connection is lost
 */
async function isBehindPooler(client: Client | PoolClient): Promise<boolean> {
  const { processID } = client as unknown as { readonly processID: number | null };
  try {
    const { rows } = await client.query<[number]>({ text: OWN_PROCESS, rowMode: 'array' });
    const [answering] = rows[0] ?? [];
    return (
      processID !== null && answering !== undefined && answering > 0 && answering !== processID
    );
  } catch (reason) {
    const failure = failureOf(reason, 0);
    if (failure.isConnectionLoss) throw failure;
    return false;
  }
}

/**
 * Limits how much is read in one turn of the event loop: Node would otherwise read megabytes of a large result at once, and `pg`
 * parse them.
 */
function readInTurns(stream: Duplex): void {
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes < TURN_BYTES) return;
    bytes = 0;
    stream.pause();
    setImmediate(() => stream.resume());
  });
}

const streamOf = (client: PoolClient): Duplex =>
  (client as unknown as { readonly connection: { readonly stream: Duplex } }).connection.stream;

type Settled =
  | { readonly result: QueryArrayResult<(string | null)[]>; readonly reason?: undefined }
  | { readonly result?: undefined; readonly reason: unknown };

/**
 * Passes a callback instead of using the promise of `pg`: V8 treats the callback that `pg` would create for the promise as
 * long-lived, and it keeps the result in memory until the next full garbage collection (`short-lives.test.ts`).
 */
const settle = (
  client: PoolClient,
  { name, text, values }: Statement,
  isNamed: boolean,
): Promise<Settled> =>
  new Promise((resolve) => {
    client.query<(string | null)[], unknown[]>(
      {
        ...(isNamed && name !== '' && { name }),
        text,
        values: [...values],
        rowMode: 'array',
        types: AS_TEXT,
      },
      (reason: unknown, result) => resolve(reason ? { reason } : { result }),
    );
  });

const ignore = (): void => undefined;

/** Columns stay text, as the protocol sends them. */
const AS_TEXT = { getTypeParser: () => (column: string) => column };

function failureOf(reason: unknown, at: number): SqlFailure {
  if (reason instanceof SqlFailure) return reason;
  // Only SQLSTATE codes count: errors of sockets have codes too, such as EPIPE.
  const { code, routine } = reason instanceof DatabaseError ? reason : {};
  // "cached plan must not change result type": somebody has altered a table. The text may be in another language.
  const state = routine === 'RevalidateCachedQuery' ? STATEMENT_GONE : code;
  return new SqlFailure(messageOf(reason), state, at, { cause: reason });
}
