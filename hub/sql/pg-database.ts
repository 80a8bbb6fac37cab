/** The PostgreSQL protocol by `pg`: to a server over a socket, to PGlite over a stream to its thread. */
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
  /** A server that is silent for so long counts as gone, even if its socket is open: the connection is closed as lost. */
  readonly answerMs?: number;
  /** What else must have ended before it counts as closed. */
  readonly ended?: () => Promise<unknown>;
}

const NOT_SUPPORTED = '0A000';
const OWN_PROCESS = 'SELECT pg_backend_pid()';

/**
 * Each statement of the store follows a primary key. A planner without statistics of a table that was empty a moment ago would
 * scan it instead. Servers without these settings refuse them, and plan as they do.
 */
const SETTINGS = [
  'SET enable_seqscan = off',
  'SET enable_bitmapscan = off',
  'SET enable_hashjoin = off',
  'SET enable_mergejoin = off',
  'SET plan_cache_mode = force_generic_plan',
  'SET jit = off',
  // A back end whose client vanished in the middle of a write releases the sequencer.
  "SET idle_in_transaction_session_timeout = '15s'",
];

const RELISTEN_MS = 1000;

export class PgDatabase implements SqlDatabase {
  readonly isExclusive: boolean;
  roundTrips = 0;
  private readonly options: PgDatabaseOptions;
  private readonly pool: Pool;
  private readonly isSetUp = new WeakSet<PoolClient>();
  /** Those that a pooler may lend another server connection for each transaction: nothing of a session lasts. */
  private readonly isPooled = new WeakSet<PoolClient>();
  /** Nothing is asked of it any more. */
  isClosed = false;

  constructor(options: PgDatabaseOptions) {
    this.options = options;
    this.isExclusive = options.isExclusive;
    // In pipeline mode statements are sent without waiting for the answers of those before.
    const config: PoolConfig & { pipeline: boolean } = { ...options.pool, pipeline: true };
    this.pool = new Pool(config);
    // An idle connection that breaks leaves the pool.
    this.pool.on('error', ignore);
    // One in use fails the statement that runs on it. Set at once: a server may greet and end the session in one packet.
    this.pool.on('connect', (client) => {
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
    let isBroken = false;
    const onBreak = (reason: unknown): never => {
      isBroken ||= reason instanceof SqlFailure && reason.isConnectionLoss;
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
          // Without LISTEN, polling is enough. Whatever else it says may pass, such as too many connections.
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
    // `pg` writes each statement by itself: corked, all of them are one packet, and the server wakes up once.
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

  /** One timer for a batch: `pg` has one per statement. */
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

/** @throws SqlFailure behind a pooler, which would have another of its clients listen */
async function listenOn(client: Client, channel: string): Promise<void> {
  if (await isBehindPooler(client)) throw new SqlFailure('behind a pooler', NOT_SUPPORTED);
  await client.query(`LISTEN ${channel}`);
}

/**
 * Whether the process that greeted is not the one that answers: PgBouncer and its like greet by themselves. Servers that know no
 * processes count as one.
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

/** Of a large result, Node would read megabytes in one turn, and `pg` parse them. */
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

/** Not by the promise of `pg`: V8 takes its callback for a long-lived one, and keeps the results (`short-lives.test.ts`). */
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

/** Columns stay text, as the protocol has them. */
const AS_TEXT = { getTypeParser: () => (column: string) => column };

function failureOf(reason: unknown, at: number): SqlFailure {
  if (reason instanceof SqlFailure) return reason;
  // Errors of sockets have codes too, such as EPIPE.
  const state = reason instanceof DatabaseError ? reason.code : undefined;
  return new SqlFailure(messageOf(reason), state, at, { cause: reason });
}
