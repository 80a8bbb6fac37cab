/**
 * A few threads, which execute tasks of callers. Databases take turns at the threads, and so do credentials within each database. A
 * credential never uses all threads if there are several.
 */
import type { CommitNotice, Line } from '../../src/engine/host.ts';
import { timedOut } from '../../src/engine/context.ts';
import { Refusal } from '../../src/errors.ts';
import { LIMITS } from '../../src/limits.ts';
import { FairQueue } from '../event-loop/fair-queue.ts';
import type { LongQueryCounts } from '../monitoring/metrics.ts';
import { shuttingDown } from '../passwords/password-pool.ts';
import { LostWrites } from './lost-writes.ts';
import {
  noRoom,
  SupervisedThread,
  type Answered,
  type Asked,
  type Evaluator,
  type Patience,
  type Task,
} from './supervised-thread.ts';

export interface ThreadPoolOptions extends Patience {
  readonly threads: number;
  /** Tasks of all callers that may wait; further ones are refused. */
  readonly waitingMax: number;
  /** In µs, like `QueryRequest.arrived`. */
  readonly clock: () => number;
  readonly start: () => Evaluator;
  /** Receives the reason when a thread could not be started or has ended. */
  readonly report?: (reason: unknown) => void;
}

export interface Timing {
  /** In µs. */
  readonly arrived: number;
  readonly timeoutMs?: number | undefined;
  /** Whether the task is to be dropped if it has not begun. */
  readonly isAbandoned?: (() => boolean) | undefined;
}

interface QueuedTask extends Task, Omit<Timing, 'timeoutMs'> {
  /** Refuses the task if it still waits at its timeout. */
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class ThreadPool {
  private readonly options: ThreadPoolOptions;
  private readonly lost = new LostWrites();
  private readonly queue = new FairQueue<QueuedTask>();
  private readonly threads = new Set<SupervisedThread>();
  private threadsStarted = 0;
  private threadsLost = 0;
  private isClosed = false;

  constructor(options: ThreadPoolOptions) {
    this.options = options;
  }

  get counts(): LongQueryCounts {
    const running = [...this.threads].filter(({ task }) => task).length;
    const { threadsStarted, threadsLost } = this;
    return { running, waiting: this.queue.size, threadsStarted, threadsLost };
  }

  /** The number of tasks of a caller that wait or run. */
  countOf(name: string): number {
    return this.queue.countOf(name);
  }

  /** Executes a task of the caller with this line. @throws Refusal */
  async run(
    { name, group }: Line,
    asked: Asked,
    { arrived, isAbandoned, timeoutMs = LIMITS.queryTimeoutDefaultMs }: Timing,
  ): Promise<Answered> {
    if (this.isClosed) throw shuttingDown();
    if (this.queue.size >= this.options.waitingMax) this.dropAbandoned();
    if (this.queue.size >= this.options.waitingMax) this.displaceFor(name, group);
    return new Promise((resolve, reject) => {
      const timing = { arrived, isAbandoned, timeoutMs };
      const task: QueuedTask = { name, asked, ...timing, resolve, reject, timer: undefined };
      this.queue.add(name, task, group);
      task.timer = setTimeout(() => this.refuseWaiting(task), Math.max(0, this.msLeft(task)));
      this.assign();
    });
  }

  /** Removes a waiting task of the group or line with the most. @throws Refusal if that is the newcomer's own */
  private displaceFor(name: string, group: string): void {
    const displaced = this.queue.displace(name, group);
    if (!displaced) throw tooManyWait();
    this.reject(displaced, tooManyWait());
  }

  /** Passes commits to the threads that are executing something, so that their caches stay correct. */
  onCommit({ previous, ts, rows, entries }: CommitNotice): void {
    const notice = { previous, ts, rows, entries };
    for (const thread of this.threads) if (thread.task) thread.send({ type: 'commit', notice });
  }

  /** Refuses all waiting tasks. @param ms how long running tasks may continue */
  async close(ms: number): Promise<void> {
    this.isClosed = true;
    this.rejectWaiting(shuttingDown());
    await Promise.all([...this.threads].map((thread) => thread.close(ms)));
  }

  private assign(): void {
    for (const thread of this.threads) if (!thread.task) this.give(thread);
    if (this.isClosed || this.threads.size >= this.options.threads) return;
    const task = this.next();
    if (!task) return;
    try {
      this.give(this.addThread(), task);
    } catch (reason) {
      const refusal = noRoom(reason);
      this.options.report?.(refusal);
      this.queue.putBack(task.name, task);
      // The running threads do the waiting tasks; if there are none, the tasks are refused.
      if (this.threads.size === 0) this.rejectWaiting(refusal);
    }
  }

  private rejectWaiting(reason: Refusal): void {
    for (const task of this.queue.waiting()) {
      this.queue.remove(task.name, task);
      this.reject(task, reason);
    }
  }

  private next(): QueuedTask | undefined {
    // If there are several threads, no credential may use all of them.
    const runningMax = Math.max(1, this.options.threads - 1);
    for (;;) {
      const task = this.queue.take(runningMax);
      if (!task?.isAbandoned?.()) return task;
      this.queue.end(task.name);
      this.reject(task, abandoned());
    }
  }

  /** Gives the thread its next task. */
  private give(thread: SupervisedThread, task: QueuedTask | undefined = this.next()): void {
    if (task) {
      clearTimeout(task.timer);
      return thread.execute(task, this.msLeft(task), this.lost.fatal);
    }
    if (this.isClosed) thread.send({ type: 'close' });
    thread.rest();
  }

  private addThread() {
    const thread = new SupervisedThread(
      this.options.start(),
      {
        onFree: (task) => {
          this.queue.end(task.name);
          this.give(thread);
        },
        onExit: (reason) => this.remove(thread, reason),
      },
      this.options,
    );
    this.threads.add(thread);
    this.threadsStarted += 1;
    return thread;
  }

  /** A new thread is started when one is needed. */
  private remove(thread: SupervisedThread, reason: unknown): void {
    const { task, executing } = thread;
    this.threads.delete(thread);
    if (task) this.queue.end(task.name);
    if (!this.isClosed) {
      this.threadsLost += 1;
      this.options.report?.(new Error(THREAD_LOST, { cause: reason }));
      if (executing !== undefined) this.lost.note(executing);
    }
    this.assign();
  }

  private refuseWaiting(task: QueuedTask): void {
    if (this.queue.remove(task.name, task)) this.reject(task, timedOut(task.timeoutMs));
  }

  private dropAbandoned(): void {
    for (const task of this.queue.waiting())
      if (task.isAbandoned?.() && this.queue.remove(task.name, task))
        this.reject(task, abandoned());
  }

  private reject(task: QueuedTask, reason: unknown): void {
    clearTimeout(task.timer);
    task.reject(reason);
  }

  private msLeft({ timeoutMs, arrived }: QueuedTask): number {
    return timeoutMs - (this.options.clock() - arrived) / 1000;
  }
}

const tooManyWait = (): Refusal =>
  new Refusal('too many requests', 'Too many long queries wait: try later.');
const abandoned = (): Refusal =>
  new Refusal('time out', 'The client disconnected while the query waited.');

const THREAD_LOST = 'A thread for long queries has ended: the next query starts another.';
