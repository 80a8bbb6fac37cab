/** bcrypt in a few threads, with a bounded queue: a flood of logins holds up nothing but logins. */
import { Worker } from 'node:worker_threads';
import { truncates } from 'bcryptjs';
import { dummyHash } from '../../hosts/dummy-hash.ts';
import type { EngineOptions } from '../../src/engine/host.ts';
import { Refusal } from '../../src/errors.ts';
import type { PasswordAnswer, PasswordJob } from './password-thread.mjs';

export interface PasswordPoolOptions {
  readonly hashCost: number;
  readonly threads: number;
  /** Jobs that may wait; the next is refused. */
  readonly waitingMax: number;
}

interface Pending {
  readonly job: PasswordJob;
  readonly resolve: (answer: PasswordAnswer) => void;
  readonly reject: (reason: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  busy: Pending | undefined;
}

export class PasswordPool {
  private readonly options: PasswordPoolOptions;
  private readonly waiting: Pending[] = [];
  private readonly threads = new Set<Thread>();
  private isClosed = false;

  constructor(options: PasswordPoolOptions) {
    this.options = options;
  }

  /** What the engine asks for. */
  readonly passwords: EngineOptions['passwords'] = {
    hash: async (password, cost) => String(await this.run({ task: 'hash', password, cost })),
    verify: async (password, known) => {
      // bcrypt looks at 72 bytes and ends at a NUL: what differs only after that must still be wrong, in the same time.
      const comparable = !truncates(password) && !password.includes('\0');
      const hash = known ?? dummyHash(this.options.hashCost);
      const answer = await this.run({ task: 'verify', password, hash });
      return answer === true && comparable && known !== undefined;
    },
  };

  get waitingCount(): number {
    return this.waiting.length;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const refusal = new Refusal('storage_unavailable', 'The hub is being stopped.');
    for (const { reject } of this.waiting.splice(0)) reject(refusal);
    const threads = [...this.threads];
    this.threads.clear();
    for (const { busy } of threads) busy?.reject(refusal);
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  private run(job: PasswordJob): Promise<PasswordAnswer> {
    if (this.isClosed) {
      return Promise.reject(new Refusal('storage_unavailable', 'The hub is being stopped.'));
    }
    if (this.waiting.length >= this.options.waitingMax) {
      const text = 'Too many passwords are being checked: try again later.';
      return Promise.reject(new Refusal('too many requests', text));
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ job, resolve, reject });
      this.pump();
    });
  }

  private pump(): void {
    for (const thread of this.threads) if (!thread.busy) this.give(thread);
    if (this.waiting.length > 0 && this.threads.size < this.options.threads) this.addThread();
  }

  private addThread(): void {
    const worker = new Worker(new URL('./password-thread.mjs', import.meta.url));
    const thread: Thread = { worker, busy: undefined };
    this.threads.add(thread);
    worker.on('message', (answer: PasswordAnswer) => {
      const { busy } = thread;
      this.give(thread);
      busy?.resolve(answer);
    });
    worker.on('error', (reason) => this.lose(thread, reason));
    this.give(thread);
  }

  /** An idle thread does not keep the process alive. */
  private give(thread: Thread): void {
    thread.busy = this.waiting.shift();
    if (thread.busy) {
      thread.worker.ref();
      thread.worker.postMessage(thread.busy.job);
    } else thread.worker.unref();
  }

  private lose(thread: Thread, reason: unknown): void {
    this.threads.delete(thread);
    thread.busy?.reject(reason);
    if (!this.isClosed) this.pump();
  }
}
