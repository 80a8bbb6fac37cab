import type { WorkerMessage } from '../../host/api.ts';

/** Receivers of the events of a database's workers. */
export interface WorkerListener {
  onMessage?(message: WorkerMessage): void;
  /** The database was locked or unlocked, as `isLocked` says. */
  onLock?(): void;
  /** A new worker serves the database: subscriptions must be sent again. */
  onRenewed?(): void;
  /** The worker has ended: a new one starts at the next call, or when the page is shown again. Or the database was closed. */
  onEnded?(reason: Error): void;
}

/** Sends events to listeners. */
export class WorkerEvents {
  readonly #listeners = new Set<WorkerListener>();

  /** @returns a function that ends listening */
  listen(listener: WorkerListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  protected tell(send: (listener: WorkerListener) => void): void {
    for (const listener of this.#listeners) send(listener);
  }
}
