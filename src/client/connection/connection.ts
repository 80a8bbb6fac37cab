import { transfer, wrap, type Remote } from 'comlink';
import type { HostApi, PageMessage, RefusalData, Reply, WorkerMessage } from '../../host/api.ts';
import type { OpenOptions, OpenReply } from '../../host/open.ts';
import { refusalError, type QueryError } from '../errors.ts';
import { forgetWorker, markOnPageHide } from './clean-shutdown.ts';
import { messageOf } from './start-worker.ts';

type RemoteHost = Remote<HostApi<MessagePort>>;

/** Comlink closes a connection whose proxy is garbage-collected, even amid a call: the proxies of workers in use are kept here. */
const pinned = new Set<RemoteHost>();

/** Longest time to open without progress, ms: past it, another tab or process is holding the database. */
const OPEN_MS = 30_000;
const OPENED_LATE =
  'The browser did not open the stored data in time. Another tab, or one that is closing, may still use it.';
/** How long a worker may take to close when an app asks it to, ms. */
const CLOSE_MS = 10_000;
/** How long when nobody waits for it, ms. It ends its transactions within one second; see `idb-connection.ts`. */
const RETIRE_MS = 2_000;
const PING_MS = 10_000;
/** How long a worker that may have ended has to answer a ping, ms. */
const PONG_MS = 5_000;
/** Unanswered pings after which a worker counts as hung. Counted, because clocks jump while a device sleeps. */
const PINGS_MISSED_MAX = 6;

/** What is asked of a worker at its end. */
export type Ending = 'close' | 'destroy';

export interface ConnectionHandlers {
  onMessage(message: WorkerMessage): void;
  /** The worker has ended or hangs; pending calls have been rejected. */
  onLost(error: QueryError): void;
}

/** One worker with an open database. Every call settles, also when the worker ends. */
export class Connection {
  readonly #worker: Worker;
  /** Until it has ended: Comlink holds the worker until the proxy is collected, and the worker leads here. */
  #host: RemoteHost | undefined;
  readonly #port: MessagePort;
  readonly #handlers: ConnectionHandlers;
  readonly #pending = new Set<(reason: Error) => void>();
  readonly #released = new AbortController();
  #ended: Error | undefined = undefined;
  #pinging: ReturnType<typeof setInterval> | undefined = undefined;
  #pingsMissed = 0;
  #aliveLock = '';

  private constructor(worker: Worker, port: MessagePort, handlers: ConnectionHandlers) {
    this.#worker = worker;
    this.#port = port;
    this.#handlers = handlers;
    this.#host = wrap<HostApi<MessagePort>>(worker);
    pinned.add(this.#host);
    const lost = (event: Event): void => {
      event.preventDefault();
      const message = 'message' in event ? `: ${String(event.message)}` : '';
      this.#lose(`The database worker failed${message}`);
    };
    worker.addEventListener('error', lost);
    worker.addEventListener('messageerror', lost);
    port.addEventListener('message', ({ data }: MessageEvent<WorkerMessage>) => {
      this.#pingsMissed = 0;
      if (data.type !== 'pong') handlers.onMessage(data);
    });
    port.start();
  }

  /**
   * @param worker loaded; terminated when the database cannot be opened
   * @param signal ends the connection at any time, with its reason
   */
  static async open(
    worker: Worker,
    options: OpenOptions,
    handlers: ConnectionHandlers,
    signal: AbortSignal,
  ): Promise<{ readonly connection: Connection; readonly reply: OpenReply }> {
    const { port1, port2 } = new MessageChannel();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = (): void => {
      clearTimeout(timer);
      timer = setTimeout(
        () => connection.end(refusalError('storage_blocked', OPENED_LATE)),
        OPEN_MS,
      );
    };
    const onMessage = (message: WorkerMessage): void => {
      // The rows of a large database are moved: that may take, as long as it goes on.
      if (timer !== undefined) wait();
      handlers.onMessage(message);
    };
    const connection = new Connection(worker, port1, { ...handlers, onMessage });
    signal.addEventListener(
      'abort',
      () => connection.end(signal.reason as Error),
      connection.#released,
    );
    wait();
    try {
      const opening = connection.call((host) => host.open(options, transfer(port2, [port2])));
      // The browser takes some ms to fetch them, and meanwhile the worker opens.
      const workers = markOnPageHide(options.aliveLock);
      const reply = await opening;
      connection.#watch(options.aliveLock).catch(() => {
        // Aborted: the end of this worker is expected.
      });
      connection.post({ type: 'ended', workers });
      connection.#tellWhenHidden();
      return { connection, reply };
    } catch (error) {
      forgetWorker(options.aliveLock);
      connection.end(error as Error);
      throw error;
    } finally {
      clearTimeout(timer);
      timer = undefined;
    }
  }

  /** One call of what no database need be open for. @param worker loaded; terminated when it has answered */
  static async once<T>(worker: Worker, run: (host: RemoteHost) => Promise<Reply<T>>): Promise<T> {
    const none = (): void => undefined;
    const { port1 } = new MessageChannel();
    const connection = new Connection(worker, port1, { onMessage: none, onLost: none });
    try {
      return await connection.call(run);
    } finally {
      connection.end(new Error('The worker is no longer needed.'));
    }
  }

  /** @throws QueryError also when the worker is lost amid the call */
  call<T>(run: (host: RemoteHost) => Promise<Reply<T>>): Promise<T> {
    const host = this.#host;
    if (this.#ended || !host) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#pending.add(reject);
      this.#startPings();
      run(host)
        .then(
          (reply) => (reply.ok ? resolve(reply.value) : reject(refusalOf(reply.refusal))),
          (cause: unknown) =>
            reject(refusalError('internal server error', messageOf(cause), { cause })),
        )
        .finally(() => {
          this.#pending.delete(reject);
          if (this.#pending.size === 0) this.#stopPings();
        });
    });
  }

  post(message: PageMessage): void {
    if (!this.#ended) this.#port.postMessage(message);
  }

  /** Terminates the worker at once. Pending calls are rejected with `reason`. */
  end(reason: Error): void {
    this.#letGo(reason);
    this.#released.abort();
    this.#worker.terminate();
    if (this.#host) pinned.delete(this.#host);
    this.#host = undefined;
  }

  /** Terminates the worker when it has closed or deleted the database. Pending calls are rejected with `reason` then. */
  async close(how: Ending, reason: Error): Promise<void> {
    const late = setTimeout(() => {
      // What is large takes as long to be deleted as it takes: the worker has deadlines of its own.
      if (how === 'close') this.end(reason);
    }, CLOSE_MS);
    try {
      await this.call((host) => host[how]());
      forgetWorker(this.#aliveLock);
    } catch (error) {
      // Ended by the deadline, and closed all the same.
      if (error !== reason) throw error;
    } finally {
      clearTimeout(late);
      this.end(reason);
    }
  }

  /** Terminates the worker when it has closed the database, within two seconds. Pending calls are rejected with `reason` at once. */
  async retire(reason: Error): Promise<void> {
    if (this.#ended) return;
    this.#letGo(reason);
    const tooLong = new Promise((resolve) => setTimeout(resolve, RETIRE_MS));
    // A worker that cannot close is terminated all the same.
    const closing = this.#host?.close().then(
      () => forgetWorker(this.#aliveLock),
      () => undefined,
    );
    await Promise.race([closing, tooLong]);
    this.end(reason);
  }

  #tellWhenHidden(): void {
    const { document } = globalThis as Partial<Pick<Window, 'document'>>;
    const tell = (): void => {
      if (document?.hidden) this.post({ type: 'hidden' });
    };
    document?.addEventListener('visibilitychange', tell, this.#released);
  }

  #letGo(reason: Error): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#stopPings();
    for (const reject of this.#pending) reject(reason);
    this.#port.close();
  }

  #lose(what: string): void {
    if (this.#ended) return;
    const description = `${what}. It is unknown whether pending queries took effect. The next call starts a new worker.`;
    const error = refusalError('worker_lost', description);
    this.end(error);
    this.#handlers.onLost(error);
  }

  /** The worker holds this lock as long as it lives: `terminate()` fires no event, but frees locks. */
  async #watch(aliveLock: string): Promise<void> {
    this.#aliveLock = aliveLock;
    const { signal } = this.#released;
    const locks = globalThis.navigator?.locks;
    const lost = (): void => this.#lose('The database worker was terminated');
    if (!locks) return;
    if (await locks.request(aliveLock, { ifAvailable: true }, (free) => free !== null)) {
      // It has ended already. Or the data of its site were cleared: then Chromium shows a page no locks of newer workers, and pings are left.
      const late = setTimeout(lost, PONG_MS);
      this.#port.addEventListener('message', () => clearTimeout(late), { once: true });
      this.post({ type: 'ping' });
    } else await locks.request(aliveLock, { signal }, lost);
  }

  /** A worker without an open database does not answer them: how long it may take to open is limited elsewhere, a salvage takes its time. */
  #startPings(): void {
    if (this.#pinging !== undefined || !this.#aliveLock) return;
    this.#pingsMissed = 0;
    this.#pinging = setInterval(() => {
      if (this.#pingsMissed >= PINGS_MISSED_MAX) this.#lose('The database worker does not respond');
      this.#pingsMissed++;
      this.post({ type: 'ping' });
    }, PING_MS);
  }

  #stopPings(): void {
    clearInterval(this.#pinging);
    this.#pinging = undefined;
  }
}

/** The error with which the worker refused a call. */
export const refusalOf = ({ code, description }: RefusalData): QueryError =>
  refusalError(code, description);
