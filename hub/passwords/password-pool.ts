/**
 * Runs bcrypt in a few threads. The queue is bounded, and addresses take turns in it, so a flood of logins delays only its own
 * address.
 */
import { Worker } from 'node:worker_threads';
import { passwordChecks, type PasswordAnswer, type PasswordJob } from '../../hosts/passwords.ts';
import type { EngineOptions } from '../../src/engine/host.ts';
import { Refusal } from '../../src/errors.ts';
import { FairQueue } from '../event-loop/fair-queue.ts';

export interface PasswordPoolOptions {
  readonly hashCost: number;
  readonly threads: number;
  /** Jobs that may wait; further ones are refused. */
  readonly waitingMax: number;
  /** Receives the reason when passwords cannot be checked. */
  readonly report?: (reason: unknown) => void;
  /** Replaced by tests that simulate a system on which no thread can be started. */
  readonly start?: () => Worker;
}

interface Pending {
  /** The address of the caller who tries the password. Empty for hashing a new password, whose caller is already logged in. */
  readonly address: string;
  readonly job: PasswordJob;
  readonly resolve: (answer: PasswordAnswer) => void;
  readonly reject: (reason: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  busy: Pending | undefined;
}

const tooManyWait = (): Refusal =>
  new Refusal('too many requests', 'Too many passwords wait to be checked: try later.');
export const shuttingDown = (): Refusal =>
  new Refusal('storage_unavailable', 'The hub is shutting down.');
const noRoom = (cause: unknown): Refusal =>
  new Refusal(
    'storage_unavailable',
    'The hub has no room for a thread that checks passwords: try again.',
    { cause },
  );

export class PasswordPool {
  readonly passwords: EngineOptions['passwords'];
  private readonly options: PasswordPoolOptions;
  private readonly waiting = new FairQueue<Pending>();
  private readonly threads = new Set<Thread>();
  private isClosed = false;

  constructor(options: PasswordPoolOptions) {
    this.options = options;
    this.passwords = passwordChecks(options.hashCost, (job, address) => this.run(job, address));
  }

  get waitingCount(): number {
    return this.waiting.size;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.rejectWaiting(shuttingDown());
    const threads = [...this.threads];
    this.threads.clear();
    for (const { busy } of threads) busy?.reject(shuttingDown());
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  private async run(job: PasswordJob, address = ''): Promise<PasswordAnswer> {
    if (this.isClosed) throw shuttingDown();
    if (this.waiting.size >= this.options.waitingMax) {
      const displaced = this.waiting.displace(address);
      if (!displaced) throw tooManyWait();
      displaced.reject(tooManyWait());
    }
    return new Promise((resolve, reject) => {
      this.waiting.add(address, { address, job, resolve, reject });
      this.assign();
    });
  }

  private rejectWaiting(reason: Refusal): void {
    for (const pending of this.waiting.waiting()) {
      this.waiting.remove(pending.address, pending);
      pending.reject(reason);
    }
  }

  private assign(): void {
    for (const thread of this.threads) if (!thread.busy) this.give(thread);
    if (this.waiting.size === 0 || this.threads.size >= this.options.threads) return;
    try {
      this.addThread();
    } catch (reason) {
      const refusal = noRoom(reason);
      this.options.report?.(refusal);
      // The running threads do the waiting jobs; if there are none, the jobs are refused.
      if (this.threads.size === 0) this.rejectWaiting(refusal);
    }
  }

  private addThread(): void {
    const worker = (this.options.start ?? startHashingThread)();
    const thread: Thread = { worker, busy: undefined };
    this.threads.add(thread);
    worker.on('message', (answer: PasswordAnswer) => {
      const { busy } = thread;
      this.give(thread);
      busy?.resolve(answer);
    });
    worker.on('error', (reason) => this.remove(thread, reason));
    this.give(thread);
  }

  /** Gives the thread its next job. An idle thread is unreferenced, so that it does not keep the process alive. */
  private give(thread: Thread): void {
    if (thread.busy) this.waiting.end(thread.busy.address);
    thread.busy = this.waiting.take(Infinity);
    if (thread.busy) {
      thread.worker.ref();
      thread.worker.postMessage(thread.busy.job);
    } else thread.worker.unref();
  }

  private remove(thread: Thread, reason: unknown): void {
    this.threads.delete(thread);
    const { busy } = thread;
    if (busy) this.waiting.end(busy.address);
    busy?.reject(reason);
    if (!this.isClosed) this.assign();
  }
}

export const startHashingThread = (): Worker =>
  // Bundlers and Node recognize this expression and find the file next to this one.
  new Worker(new URL('./password-thread.mjs', import.meta.url));
