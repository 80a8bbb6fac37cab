import { valueOf, type Observer } from '../queries/client.ts';
import type { WorkerMessage } from '../../host/api.ts';
import type { LivePlace } from '../../host/query.ts';
import { BurrowError, QueryError, refusalError } from '../errors.ts';
import type { DatabaseWorker } from '../connection/database-worker.ts';

interface Subscription {
  readonly secret: () => string;
  readonly query: string;
  readonly at: LivePlace | undefined;
  readonly observer: Observer<unknown>;
  readonly onEnd: () => void;
  /** Number of the newest answer that was shown. Decoding is asynchronous, so a long answer may be overtaken, and is then dropped. */
  shown: number;
  /** The last answer that the observer got. A new worker sends its first answer again, which is not passed on if it is equal. */
  last: string | undefined;
}

/** The live queries of one database. They survive the loss of a worker. */
export class Subscriptions {
  readonly #worker: DatabaseWorker;
  readonly #byId = new Map<number, Subscription>();
  #lastId = 0;
  /** Number of answers received so far. */
  #received = 0;

  constructor(worker: DatabaseWorker) {
    this.#worker = worker;
    worker.listen({
      onMessage: (message) => {
        if (message.type === 'answer') void this.#receive(message);
      },
      onRenewed: () => {
        for (const [id, subscription] of this.#byId) this.#send(id, subscription);
      },
      onEnded: (reason) => this.#outlive(reason),
    });
  }

  /** @returns a function that ends the subscription */
  add(
    secret: () => string,
    query: string,
    observer: Observer<unknown>,
    at: LivePlace | undefined,
    onEnd: () => void,
  ): () => void {
    const id = ++this.#lastId;
    const subscription = { secret, query, at, observer, onEnd, shown: 0, last: undefined };
    this.#byId.set(id, subscription);
    this.#send(id, subscription);
    return () => {
      if (!this.#byId.delete(id)) return;
      onEnd();
      // Without a worker there is nothing to end.
      this.#worker.postIfConnected({ type: 'unsubscribe', id }).catch(() => undefined);
    };
  }

  #send(id: number, { secret, query, at }: Pick<Subscription, 'secret' | 'query' | 'at'>): void {
    this.#worker
      .post(() => ({ type: 'subscribe', id, secret: secret(), query, at }))
      // In a task of its own: an observer that subscribes again at once would keep the page from all else.
      .catch((error: unknown) => setTimeout(() => this.#fail(id, error)));
  }

  async #receive(message: Extract<WorkerMessage, { type: 'answer' }>): Promise<void> {
    const { id, status, body, missing, isFromHub } = message;
    const subscription = this.#byId.get(id);
    if (!subscription) return;
    const { observer } = subscription;
    const answer = body + JSON.stringify([missing, isFromHub]);
    const number = ++this.#received;
    const from = isFromHub ? 'hub' : 'device';
    const call = await valueOf({ status, body }).then(
      (value) => () => observer.next(value, { partial: missing ?? [], from }),
      (error: unknown) => () => onError(observer, asCallerError(error)),
    );
    if (!this.#byId.has(id) || number < subscription.shown) return;
    subscription.shown = number;
    if (subscription.last === answer) return;
    subscription.last = answer;
    notify(call);
  }

  /** The worker has ended: another one takes over, unless the database was closed or locked, or workers fail in quick succession. */
  #outlive(reason: Error): void {
    if (this.#byId.size === 0) return;
    const fail = (error: unknown): void => {
      // Without the subscriptions that observers add meanwhile.
      for (const id of new Set(this.#byId.keys()))
        this.#fail(id, error, error === reason || undefined);
    };
    // The database was closed or locked, which ends its live queries.
    if (!(reason instanceof QueryError) || reason.code === 'locked') fail(reason);
    else this.#worker.replace(reason).catch(fail);
  }

  /** @param isOver whether the subscription ends; otherwise it is sent again as soon as a worker can be started */
  #fail(
    id: number,
    error: unknown,
    isOver = this.#worker.closed !== undefined || (error as Partial<QueryError>).code === 'locked',
  ): void {
    const subscription = this.#byId.get(id);
    if (!subscription) return;
    const { observer, onEnd } = subscription;
    const reason = asCallerError(error);
    if (isOver) {
      this.#byId.delete(id);
      onEnd();
      notify(() => observer.error?.(reason));
      notify(() => observer.closed?.(reason));
    } else {
      // After an error, the next answer is shown even if it equals the one before.
      subscription.last = undefined;
      notify(() => onError(observer, reason));
    }
  }
}

/** Without an error callback, the error is logged: otherwise a failed query would look like one that is still running. */
function onError(observer: Observer<unknown>, error: BurrowError): void {
  if (observer.error) observer.error(error);
  else console.warn('Burrow: a live query failed:', error.message);
}

const asCallerError = (error: unknown): BurrowError =>
  error instanceof BurrowError
    ? error
    : refusalError('internal server error', 'The answer could not be decoded.', {
        cause: error,
      });

/**
 * An error thrown by an observer must not break the code that notifies it: the error is rethrown in a microtask, where it is reported as
 * uncaught.
 */
function notify(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
