/** PGlite: Postgres in a thread of this process, so that what it is busy with never stops the hub from answering. */
import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { PgDatabase } from './pg-database.ts';

const MEMORY = 'memory:';

/** A folder of that name is `./memory`. */
export const isMemory = (data: string): boolean => data === 'memory' || data.startsWith(MEMORY);

/**
 * @param data a folder, or `memory:`
 * @param start for tests, which end threads
 */
export function openPglite(data: string, start = startThread): PgDatabase {
  let opened = 0;
  /** A folder is opened again when the thread of before has let go of it. */
  let before: Promise<unknown> = Promise.resolve();
  return new PgDatabase({
    isExclusive: true,
    canListen: false,
    pool: {
      max: 1,
      idleTimeoutMillis: 0,
      user: 'postgres',
      database: 'postgres',
      ssl: false,
      stream: () => {
        opened += 1;
        if (isMemory(data) && opened > 1)
          return new ThreadStream(Promise.reject(new Error('What was in memory is gone.')));
        const thread = before.then(() => start(isMemory(data) ? 'memory://' : data));
        before = thread.then(
          (worker) => new Promise((gone) => worker.once('exit', gone)),
          () => undefined,
        );
        return new ThreadStream(thread);
      },
    },
  });
}

export const startThread = (dataDir: string): Worker =>
  // Where it looks like this, bundlers and Node find the file beside this one.
  new Worker(new URL('./pglite-thread.mjs', import.meta.url), { workerData: { dataDir } });

type FromThread =
  | { readonly type: 'ready' }
  | { readonly type: 'closed' }
  | { readonly type: 'data'; readonly bytes: Uint8Array };

/** `Terminate` of the wire: the thread is closed instead. */
const TERMINATE = Buffer.from([0x58, 0, 0, 0, 4]);

/** What `pg` takes for its socket: the thread behind it runs what is written and answers. */
class ThreadStream extends Duplex {
  private readonly thread: Promise<Worker>;
  private worker: Worker | undefined = undefined;
  /** Written, and not yet sent: all that is written in one turn goes in one message. */
  private outgoing: Buffer[] = [];
  private isAwaited = false;
  /** When the last answer has come. */
  private close: (() => void) | undefined = undefined;

  constructor(thread: Promise<Worker>) {
    super();
    this.thread = thread;
    thread.catch(() => undefined);
  }

  /** A socket is told where to go; this one waits until its thread is ready. */
  connect(): void {
    this.thread.then(
      (worker) => {
        this.worker = worker;
        worker.on('message', (message: FromThread) => this.hear(message));
        worker.once('error', (error) => this.destroy(error));
        worker.once('exit', () => this.destroy());
      },
      (reason: unknown) => this.destroy(reason instanceof Error ? reason : new Error('No thread.')),
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

  /** One message at a time: the next when the answer has come. */
  private send(): void {
    if (this.isAwaited) return;
    const bytes = Uint8Array.from(Buffer.concat(this.outgoing));
    this.outgoing = [];
    if (bytes.length === 0 || TERMINATE.equals(bytes)) {
      this.close?.();
      return;
    }
    this.isAwaited = true;
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
    // Without effect on a thread that has ended.
    void this.worker?.terminate();
    done(error);
  }

  private hear(message: FromThread): void {
    if (message.type === 'ready') this.emit('connect');
    else if (message.type === 'closed') this.push(null);
    else {
      this.push(Buffer.from(message.bytes.buffer));
      this.isAwaited = false;
      this.send();
    }
  }
}
