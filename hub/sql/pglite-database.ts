/** PGlite: PostgreSQL in a thread of this process, so that its work never blocks the hub's event loop. */
import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { PgDatabase } from './pg-database.ts';
import { nextTurn, TURN_BYTES } from '../event-loop/next-turn.ts';

const MEMORY = 'memory:';

/** Whether `data` selects a database in memory. A folder with this name must be given as `./memory`. */
export const isMemory = (data: string): boolean => data === 'memory' || data.startsWith(MEMORY);

/**
 * @param data a folder, `memory` or `memory:`
 * @param start starts the thread; tests replace it to end threads, or to begin with a prepared database
 * @param onLost called when the thread of a database in memory has ended and the data is lost; a folder is opened again instead
 */
export function openPglite(
  data: string,
  start: (dataDir: string) => Worker | Promise<Worker> = startThread,
  onLost: () => void = () => undefined,
): PgDatabase {
  let opened = 0;
  /** Settles when the previous thread has ended: only then may a new thread open the folder. */
  let before: Promise<unknown> = Promise.resolve();
  const noteEnd = (): void => {
    if (isMemory(data) && !database.isClosed) onLost();
  };
  const database: PgDatabase = new PgDatabase({
    isExclusive: true,
    canListen: false,
    // A thread that was told to close may still be writing to the folder.
    ended: () => before,
    pool: {
      max: 1,
      idleTimeoutMillis: 0,
      user: 'postgres',
      database: 'postgres',
      ssl: false,
      stream: () => {
        opened += 1;
        if (isMemory(data) && opened > 1)
          return new ThreadStream(
            Promise.reject(new Error('The database in memory was lost because its thread ended.')),
          );
        const thread = before.then(() => start(isMemory(data) ? 'memory://' : data));
        before = thread.then(
          (worker) => new Promise<unknown>((gone) => worker.once('exit', gone)).then(noteEnd),
          () => undefined,
        );
        return new ThreadStream(thread);
      },
    },
  });
  return database;
}

export const startThread = (dataDir: string): Worker =>
  // Bundlers and Node recognize this expression and find the file next to this one.
  new Worker(new URL('./pglite-thread.mjs', import.meta.url), { workerData: { dataDir } });

type FromThread =
  | { readonly type: 'ready' }
  | { readonly type: 'closed' }
  | { readonly type: 'data'; readonly bytes: Uint8Array };

/** The `Terminate` message of the PostgreSQL protocol. Closes the thread. */
const TERMINATE = Buffer.from([0x58, 0, 0, 0, 4]);

/** Replaces the socket of `pg`: bytes that `pg` writes are executed by the thread, and its responses are read from this stream. */
class ThreadStream extends Duplex {
  private readonly thread: Promise<Worker>;
  private worker: Worker | undefined = undefined;
  /** Bytes written but not yet sent. All bytes written in one turn of the event loop become one message. */
  private outgoing: Buffer[] = [];
  private isWaiting = false;
  /** Closes the thread. Called when no response is pending. */
  private close: (() => void) | undefined = undefined;

  constructor(thread: Promise<Worker>) {
    super();
    this.thread = thread;
    thread.catch(() => undefined);
  }

  /** `pg` calls this to connect its socket to an address. Here it waits until the thread has started. */
  connect(): void {
    this.thread.then(
      (worker) => {
        this.worker = worker;
        worker.on('message', (message: FromThread) => this.receive(message));
        worker.once('error', (error) => this.destroy(error));
        worker.once('exit', () => this.destroy());
      },
      (reason: unknown) =>
        this.destroy(reason instanceof Error ? reason : new Error('PGlite could not be started.')),
    );
  }
  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (this.outgoing.length === 0) queueMicrotask(() => this.send());
    this.outgoing.push(chunk);
    done();
  }

  /** Sends one message at a time: the next one is sent after the response has arrived. */
  private send(): void {
    if (this.isWaiting) return;
    const bytes = Uint8Array.from(Buffer.concat(this.outgoing));
    this.outgoing = [];
    if (bytes.length === 0 || TERMINATE.equals(bytes)) {
      this.close?.();
      return;
    }
    this.isWaiting = true;
    this.worker?.postMessage({ type: 'data', bytes }, [bytes.buffer]);
  }

  override _final(done: () => void): void {
    this.close = () => {
      this.close = undefined;
      this.worker?.postMessage({ type: 'close' });
      done();
    };
    this.send();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // Has no effect if the thread has already ended.
    void this.worker?.terminate();
    done(error);
  }

  private receive(message: FromThread): void {
    if (message.type === 'ready') this.emit('connect');
    else if (message.type === 'closed') this.push(null);
    else void this.feed(Buffer.from(message.bytes.buffer));
  }

  /** Pushes a response in pieces, one per turn of the event loop, because `pg` parses each pushed piece synchronously. */
  private async feed(response: Buffer): Promise<void> {
    for (let at = 0; at < response.length; at += TURN_BYTES) {
      if (at > 0) await nextTurn();
      this.push(response.subarray(at, at + TURN_BYTES));
    }
    this.isWaiting = false;
    this.send();
  }
}
