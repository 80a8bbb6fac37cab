/**
 * Executes long queries in a few threads, so that the main thread has time for all others. Databases take turns at the threads,
 * and so do credentials within each database. A credential never uses all threads if there are several.
 */
import { hash } from 'node:crypto';
import type {
  ArrivedQuery,
  CommitNotice,
  Line,
  LongQueries,
  QueryAnswer,
  QueryRequest,
} from '../../src/engine/host.ts';
import { RecentTime } from '../../hosts/recent-time.ts';
import { looksLikeToken } from '../../src/engine/access.ts';
import { timedOut } from '../../src/engine/context.ts';
import { assert, Refusal } from '../../src/errors.ts';
import { LIMITS } from '../../src/limits.ts';
import { FairQueue } from '../event-loop/fair-queue.ts';
import { LoopTurns } from '../event-loop/loop-turns.ts';
import { LostWrites } from './lost-writes.ts';
import type { LongPush, LongRead, Pushed, ReadAnswer } from './messages.ts';
import { HeldBack, type HeldBackCount } from '../monitoring/held-back.ts';
import type { LongQueryCounts } from '../monitoring/metrics.ts';
import { shuttingDown } from '../passwords/password-pool.ts';
import { KnownDatabases } from './known-databases.ts';
import {
  noRoom,
  SupervisedThread,
  type Answered,
  type Asked,
  type Evaluator,
  type Patience,
  type Task,
} from './supervised-thread.ts';

export interface EvaluatorPoolOptions extends Patience {
  readonly threads: number;
  /** Queries of all credentials that may wait; further ones are refused. */
  readonly waitingMax: number;
  /** In µs, like `QueryRequest.arrived`. */
  readonly clock: () => number;
  readonly start: () => Evaluator;
  /** Receives the reason when a thread could not be started or has ended. */
  readonly report?: (reason: unknown) => void;
  /** In ms; used for turns of the event loop. */
  readonly loopClock?: () => number;
}

/** What is known about the sender of a request. `line`, if the name has already been computed. */
type Credential = Pick<QueryRequest, 'secret' | 'address' | 'line'>;

interface Timing {
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

/**
 * How long the main thread evaluates a query before a thread takes it over. Less if long queries of the same credential are
 * waiting or running.
 */
const TURN_MS = 20;
const TURN_MIN_MS = 2;
/** Used instead of `TURN_MS` for a credential that has used more than `SHARE_MS` of the last second while others were active. */
const BUSY_TURN_MS = 3;
const SHARE_MS = 100;
/** Timeout of a push, including waiting: each of its writes has a timeout of its own. The same for a pull or check. */
const DEVICE_MS = 120_000;

export class EvaluatorPool implements LongQueries {
  private readonly options: EvaluatorPoolOptions;
  private readonly loop: LoopTurns;
  private readonly recent = new RecentTime();
  private readonly databases = new KnownDatabases();
  private readonly heldBack = new HeldBack();
  private readonly lost = new LostWrites();
  private readonly queue = new FairQueue<QueuedTask>();
  private readonly threads = new Set<SupervisedThread>();
  private threadsStarted = 0;
  private threadsLost = 0;
  private isClosed = false;

  constructor(options: EvaluatorPoolOptions) {
    this.options = options;
    this.loop = new LoopTurns(undefined, options.loopClock);
  }

  get counts(): LongQueryCounts {
    const running = [...this.threads].filter(({ task }) => task).length;
    const { threadsStarted, threadsLost } = this;
    return { running, waiting: this.queue.size, threadsStarted, threadsLost };
  }

  whenFree(request: QueryRequest): Promise<void> | undefined {
    const { name, group } = request.line ?? this.lineOf(request);
    const free = this.loop.enter(name, group);
    if (free) this.heldBack.note('turn', group);
    return free;
  }

  /**
   * Where requests and queries of a credential wait: in its own line, in the group of its database. Until its first answer tells
   * the database, the group is its address.
   */
  lineOf(credential: Credential): Line {
    const name = nameOf(credential);
    const { address = '' } = credential;
    return { name, group: this.databases.of(name) ?? `address ${address}` };
  }

  recordDatabase(request: Credential, path: readonly string[]): void {
    this.databases.note(nameOf(request), path);
  }

  /**
   * The databases whose queries were delayed most by those of others. An address stands for credentials whose database is not
   * known yet.
   */
  waitedMost(count: number): readonly HeldBackCount[] {
    return this.heldBack.most(count);
  }

  /**
   * @param evaluatedMs time already used: all executions of a query in the main thread share one turn, and each further range
   * that it reads needs another execution
   */
  turnMs(request: Credential, evaluatedMs = 0): number {
    return Math.max(0, this.turnOf(request) - evaluatedMs);
  }

  private turnOf(request: Credential): number {
    const name = nameOf(request);
    const turnMs = this.isBusy(name) ? BUSY_TURN_MS : TURN_MS;
    if (this.queue.isEmpty) return turnMs;
    return Math.max(TURN_MIN_MS, turnMs / (1 + this.queue.countOf(name)));
  }

  private isBusy(name: string): boolean {
    return this.recent.of(name) > SHARE_MS && !this.recent.isAlone(name);
  }

  /** Whether a read of a device would delay others if the main thread made it. @param isLong as far as is known */
  holdsUpOthers(credential: Credential, isLong: boolean): boolean {
    const name = nameOf(credential);
    return isLong ? !this.recent.isAlone(name) : this.isBusy(name);
  }

  recordTime(request: Credential, ms: number): void {
    this.recent.note(nameOf(request), ms);
  }

  async execute(query: ArrivedQuery): Promise<QueryAnswer> {
    const { isAbandoned: _, ...request } = query;
    const reply = await this.run(query, { type: 'query', request }, query);
    assert(reply.type === 'answer', () => 'a query has an answer');
    return reply.answer;
  }

  /** Executes a push of a device in a thread: one with a long write or a long text. */
  async push(push: LongPush): Promise<Pushed> {
    const reply = await this.run(push, { type: 'push', push }, this.deviceTiming());
    assert(reply.type === 'pushed', () => 'a push has an answer of its own');
    return reply.pushed;
  }

  async read(read: LongRead): Promise<ReadAnswer> {
    const reply = await this.run(read, { type: 'read', read }, this.deviceTiming());
    assert(reply.type === 'read', () => 'a read has an answer of its own');
    return reply.answer;
  }

  private deviceTiming(): Timing {
    return { arrived: this.options.clock(), timeoutMs: DEVICE_MS };
  }

  private async run(
    credential: Credential,
    asked: Asked,
    { arrived, isAbandoned, timeoutMs = LIMITS.queryTimeoutDefaultMs }: Timing,
  ): Promise<Answered> {
    const { name, group } = this.lineOf(credential);
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
  async close(ms = 0): Promise<void> {
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

/**
 * A token belongs to one person, so its requests share a line wherever they come from. A key may be used by many, so its lines
 * are per address.
 */
function nameOf({ secret = '', address = '', line }: Credential): string {
  if (line) return line.name;
  const [plain = ''] = secret.split(':', 1);
  const name = looksLikeToken(plain) ? plain : `${plain} ${address}`;
  return name.length > NAME_CHARS_MAX ? hash('sha256', name, 'base64') : name;
}

/** Longer names, such as signed tokens of identity providers, are hashed, because many names are kept in memory. */
const NAME_CHARS_MAX = 128;

const tooManyWait = (): Refusal =>
  new Refusal('too many requests', 'Too many long queries wait: try later.');
const abandoned = (): Refusal =>
  new Refusal('time out', 'The client disconnected while the query waited.');

const THREAD_LOST = 'A thread for long queries has ended: the next query starts another.';
