import { transfer, wrap, type Remote } from 'comlink';
import type { HostApi, PageMessage, RefusalData, Reply, WorkerMessage } from '../../host/api.ts';
import { deadline } from '../../host/deadline.ts';
import type { OpenOptions, OpenReply } from '../../host/open.ts';
import { refusalError, type QueryError } from '../errors.ts';
import { forgetWorker, markOnPageHide } from './clean-shutdown.ts';
import { messageOf } from './start-worker.ts';

type RemoteHost = Remote<HostApi<MessagePort>>;

/** Proxies of the workers in use. Comlink closes a connection when its proxy is garbage-collected, even while a call is pending. */
const pinned = new Set<RemoteHost>();

/**
 * Longest time that opening may take without a sign of progress, ms. After that, another tab or process is assumed to block the database.
 */
const OPEN_MS = 30_000;
const OPENED_LATE = 'The browser did not open the stored data in time. Another tab may use it.';
/** How long a worker may take to close when an app asks for it, ms. */
const CLOSE_MS = 10_000;
/**
 * How long a worker may take to close when no caller waits for it, ms. Its transactions end within a second
 * (worker/store/idb-connection.ts).
 */
const RETIRE_MS = 2_000;
const PING_MS = 10_000;
/** How long a worker that may have ended has to answer a ping, ms. */
const PONG_MS = 5_000;
/** After this many unanswered pings, the worker counts as hung. Pings are counted because clocks jump while a device sleeps. */
const PINGS_MISSED_MAX = 6;

/** What the worker does with the database before it is terminated. */
export type Ending = 'close' | 'destroy';

export interface ConnectionHandlers {
  onMessage(message: WorkerMessage): void;
  /** The worker has ended or hangs. All pending calls have been rejected. */
  onLost(error: QueryError): void;
}

/** A worker in the thread of its page has channels of its own, because not every runtime can transfer those of the platform. */
type AnyWorker = Worker & { readonly MessageChannel?: typeof MessageChannel };

/** A worker and the database it has opened. Every call settles, even if the worker ends during it. */
export class Connection {
  readonly #worker: Worker;
  /**
   * Undefined after the end: Comlink refers to the worker until the proxy is collected, and the worker's listeners refer to this object.
   */
  #host: RemoteHost | undefined;
  readonly #port: MessagePort;
  /** The end of the channel for the worker. */
  readonly #far: MessagePort;
  readonly #handlers: ConnectionHandlers;
  readonly #pending = new Set<(reason: Error) => void>();
  readonly #released = new AbortController();
  #ended: Error | undefined = undefined;
  #pinging: ReturnType<typeof setInterval> | undefined = undefined;
  #pingsMissed = 0;
  #aliveLock = '';

  private constructor(worker: AnyWorker, handlers: ConnectionHandlers) {
    this.#worker = worker;
    ({ port1: this.#port, port2: this.#far } = new (worker.MessageChannel ?? MessageChannel)());
    this.#handlers = handlers;
    this.#host = wrap<HostApi<MessagePort>>(worker);
    pinned.add(this.#host);
    const lost = (event: Event & Partial<ErrorEvent>): void => {
      event.preventDefault();
      const message = event.message ? `: ${event.message}` : '';
      this.#lose(`The database worker failed${message}`);
    };
    worker.addEventListener('error', lost);
    worker.addEventListener('messageerror', lost);
    this.#port.addEventListener('message', ({ data }: MessageEvent<WorkerMessage>) => {
      this.#pingsMissed = 0;
      if (data.type !== 'pong') handlers.onMessage(data);
    });
    this.#port.start();
  }

  /**
   * @param worker has loaded; it is terminated if the database cannot be opened
   * @param signal ends the connection whenever it is aborted, with its reason
   */
  static async open(
    worker: Worker,
    options: OpenOptions,
    handlers: ConnectionHandlers,
    signal: AbortSignal,
  ): Promise<{ readonly connection: Connection; readonly reply: OpenReply }> {
    let timer: ReturnType<typeof deadline> | undefined;
    const wait = (): void => {
      clearInterval(timer);
      timer = deadline(OPEN_MS, () => connection.end(refusalError('storage_blocked', OPENED_LATE)));
    };
    const onMessage = (message: WorkerMessage): void => {
      // Moving the rows of a large database into another layout may take long, so each progress message restarts the timeout.
      if (timer !== undefined) wait();
      handlers.onMessage(message);
    };
    const connection = new Connection(worker, { ...handlers, onMessage });
    signal.addEventListener(
      'abort',
      () => connection.end(signal.reason as Error),
      connection.#released,
    );
    wait();
    try {
      const far = connection.#far;
      const opening = connection.call((host) => host.open(options, transfer(far, [far])));
      // Reading `localStorage` takes the browser some ms, which pass while the worker opens the database.
      const workers = markOnPageHide(options.aliveLock);
      const reply = await opening;
      connection.#watch(options.aliveLock).catch(() => {
        // The signal was aborted: the end of this worker is expected.
      });
      connection.post({ type: 'ended', workers });
      connection.#tellWhenHidden();
      return { connection, reply };
    } catch (error) {
      forgetWorker(options.aliveLock);
      connection.end(error as Error);
      throw error;
    } finally {
      clearInterval(timer);
      timer = undefined;
    }
  }

  /** Makes one call that needs no open database. @param worker has loaded; it is terminated after its answer */
  static async once<T>(worker: Worker, run: (host: RemoteHost) => Promise<Reply<T>>): Promise<T> {
    const none = (): void => undefined;
    const connection = new Connection(worker, { onMessage: none, onLost: none });
    try {
      return await connection.call(run);
    } finally {
      connection.end(new Error('Done.'));
    }
  }

  /** @throws QueryError also when the worker is lost during the call */
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

  /** Closes or deletes the database, then terminates the worker. Calls that are still pending then are rejected with `reason`. */
  async close(how: Ending, reason: Error): Promise<void> {
    const late = setTimeout(() => {
      // Deleting a large database may take longer than this timeout; the worker has deadlines of its own for it.
      if (how === 'close') this.end(reason);
    }, CLOSE_MS);
    try {
      await this.call((host) => host[how]());
      forgetWorker(this.#aliveLock);
    } catch (error) {
      // The timeout above has ended the worker, so the database is closed as well.
      if (error !== reason) throw error;
    } finally {
      clearTimeout(late);
      this.end(reason);
    }
  }

  /**
   * Rejects pending calls with `reason` at once, and terminates the worker when it has closed the database, at the latest after two
   * seconds.
   */
  async retire(reason: Error): Promise<void> {
    if (this.#ended) return;
    this.#letGo(reason);
    const tooLong = new Promise((resolve) => setTimeout(resolve, RETIRE_MS));
    // A worker that fails to close is terminated too.
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

  /** Detects the end of the worker by the lock that it holds while it lives: `terminate()` fires no event, but releases locks. */
  async #watch(aliveLock: string): Promise<void> {
    this.#aliveLock = aliveLock;
    const { signal } = this.#released;
    const locks = globalThis.navigator?.locks;
    const lost = (): void => this.#lose('The database worker has ended');
    if (!locks) return;
    if (await locks.request(aliveLock, { ifAvailable: true }, (free) => free !== null)) {
      // The lock is free: either the worker has ended already, or the site's data was cleared. After clearing, Chromium does not show a
      // page the locks of newer workers, so only a ping can tell whether the worker lives.
      const late = setTimeout(lost, PONG_MS);
      this.#port.addEventListener('message', () => clearTimeout(late), { once: true });
      this.post({ type: 'ping' });
    } else await locks.request(aliveLock, { signal }, lost);
  }

  /** Pings only workers with an open database; others do not answer. Opening has its own timeout, and a salvage may take any time. */
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

/** Converts the worker's refusal of a call into an error. */
export const refusalOf = ({ code, description }: RefusalData): QueryError =>
  refusalError(code, description);
