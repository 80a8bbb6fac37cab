/**
 * Executes queries that take long in a few threads, so that the thread that answers has time for all others. Queries of one
 * credential wait for each other; the threads go round among databases, and in each among its credentials.
 */
import { hash } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
import type {
  CommitNotice,
  Line,
  LongQueries,
  QueryAnswer,
  QueryRequest,
} from '../../src/engine/host.ts';
import { codeOf } from '../../hosts/node-errors.ts';
import { looksLikeToken } from '../../src/engine/access.ts';
import { timedOut } from '../../src/engine/context.ts';
import { assert, Refusal } from '../../src/errors.ts';
import { LIMITS } from '../../src/limits.ts';
import { FairQueue } from '../event-loop/fair-queue.ts';
import { LoopTurns } from '../event-loop/loop-turns.ts';
import { LostWrites } from './lost-writes.ts';
import type {
  FromEvaluator,
  LongPush,
  LongRead,
  Pushed,
  ReadAnswer,
  ToEvaluator,
} from './messages.ts';
import type { TextParts } from './text-parts.ts';
import type { QueryMarks } from './query-marks.ts';
import { HeldBack, type HeldBackCount } from '../monitoring/held-back.ts';
import type { LongQueryCounts } from '../monitoring/metrics.ts';
import { shuttingDown } from '../passwords/password-pool.ts';
import { KnownDatabases } from './known-databases.ts';
import { RecentTime } from './recent-time.ts';

export interface Evaluator {
  readonly worker: Worker;
  readonly marks: QueryMarks;
}

export interface EvaluatorPoolOptions {
  readonly threads: number;
  /** Queries that may wait, of all credentials; more are refused. */
  readonly waitingMax: number;
  /** µs, as in `QueryRequest.arrived`. */
  readonly clock: () => number;
  readonly start: () => Evaluator;
  /** Told why a thread could not be started, or has ended. */
  readonly report?: (reason: unknown) => void;
  /** Past the time of a query, before its thread is asked whether it is stuck; and until it must have answered. */
  readonly graceMs?: number;
  readonly lookMs?: number;
  /** ms; for turns of the event loop. */
  readonly loopClock?: () => number;
}

type Arrived = Parameters<LongQueries['execute']>[0];
type Asked = Extract<ToEvaluator, { readonly type: 'query' | 'push' | 'read' }>;
type Answered = Exclude<FromEvaluator, { readonly type: 'failed' | 'alive' }>;
/** What is known of who asks. */
type Credential = Pick<QueryRequest, 'secret' | 'address'>;

interface Task {
  readonly name: string;
  readonly request: Pick<Arrived, 'arrived' | 'timeoutMs' | 'isAbandoned'>;
  readonly asked: Asked;
  readonly resolve: (answer: Answered) => void;
  readonly reject: (reason: unknown) => void;
  timer: ReturnType<typeof setTimeout> | undefined;
}

interface Thread extends Evaluator {
  busy: Task | undefined;
  /** Why it was ended, or what it threw. */
  reason: unknown;
}

/** A query is evaluated for so long by the thread that answers; for less, when its credential has such queries under way. */
const TURN_MS = 20;
const TURN_MIN_MS = 2;
/** Likewise, when it has had more than its share of the last second, and others are there. */
const BUSY_TURN_MS = 3;
const SHARE_MS = 100;
const GRACE_MS = 1000;
const LOOK_MS = 2000;
/** Of a push, waiting included: each of its writes has a time of its own. Likewise of a pull or check. */
const DEVICE_MS = 120_000;

export class EvaluatorPool implements LongQueries {
  private readonly options: EvaluatorPoolOptions;
  private readonly loop: LoopTurns;
  private readonly recent = new RecentTime();
  private readonly databases = new KnownDatabases();
  private readonly heldBack = new HeldBack();
  private readonly lost = new LostWrites();
  private readonly queue = new FairQueue<Task>();
  private readonly threads = new Set<Thread>();
  private threadsStarted = 0;
  private threadsLost = 0;
  private isClosed = false;

  constructor(options: EvaluatorPoolOptions) {
    this.options = options;
    this.loop = new LoopTurns(undefined, options.loopClock);
  }

  get counts(): LongQueryCounts {
    const running = [...this.threads].filter(({ busy }) => busy).length;
    const { threadsStarted, threadsLost } = this;
    return { running, waiting: this.queue.size, threadsStarted, threadsLost };
  }

  whenFree(request: QueryRequest): Promise<void> | undefined {
    const { name, group } = this.lineOf(request);
    const free = this.loop.enter(name, group);
    if (free) this.heldBack.note('turn', group);
    return free;
  }

  /** Where its requests and queries wait: in the line of the credential, among those of its database, or of its address before its first answer. */
  lineOf(credential: Credential): Line {
    const name = nameOf(credential);
    const { address = '' } = credential;
    return { name, group: this.databases.of(name) ?? `address ${address}` };
  }

  recordDatabase(request: Credential, path: readonly string[]): void {
    this.databases.note(nameOf(request), path);
  }

  /** Whose queries waited most for those of others. Of an address: before their first answer. */
  waitedMost(count: number): readonly HeldBackCount[] {
    return this.heldBack.most(count);
  }

  /** All executions of a query here have one turn: each range that it goes on to read is another. */
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

  /** Whether others would wait for a read of a device, if it were made by the thread that answers. @param isLong as far as is known */
  holdsUpOthers(credential: Credential, isLong: boolean): boolean {
    const name = nameOf(credential);
    return isLong ? !this.recent.isAlone(name) : this.isBusy(name);
  }

  recordTime(request: Credential, ms: number): void {
    this.recent.note(nameOf(request), ms);
  }

  async execute(query: Arrived): Promise<QueryAnswer> {
    const { isAbandoned: _, ...request } = query;
    const reply = await this.run(query, query, { type: 'query', request });
    assert(reply.type === 'answer', () => 'a query has an answer');
    return reply.answer;
  }

  /** A push of a device with a write that takes long, or whose text is long. */
  async push(push: LongPush): Promise<Pushed> {
    const arrived = this.options.clock();
    const reply = await this.run(push, { arrived, timeoutMs: DEVICE_MS }, { type: 'push', push });
    assert(reply.type === 'pushed', () => 'a push has an answer of its own');
    return reply.pushed;
  }

  async read(read: LongRead): Promise<ReadAnswer> {
    const arrived = this.options.clock();
    const reply = await this.run(read, { arrived, timeoutMs: DEVICE_MS }, { type: 'read', read });
    assert(reply.type === 'read', () => 'a read has an answer of its own');
    return reply.answer;
  }

  private async run(
    credential: Credential,
    request: Task['request'],
    asked: Asked,
  ): Promise<Answered> {
    const { name, group } = this.lineOf(credential);
    if (this.isClosed) throw shuttingDown();
    if (this.queue.size >= this.options.waitingMax) this.dropAbandoned();
    if (this.queue.size >= this.options.waitingMax) this.displaceFor(name, group);
    return new Promise((resolve, reject) => {
      const task: Task = { name, request, asked, resolve, reject, timer: undefined };
      this.queue.add(name, task, group);
      task.timer = setTimeout(() => this.refuseWaiting(task), Math.max(0, this.msLeft(task)));
      this.assign();
    });
  }

  /** @throws Refusal where nobody has more that waits */
  private displaceFor(name: string, group: string): void {
    const displaced = this.queue.displace(name, group);
    if (!displaced) throw tooManyWait();
    this.settle(displaced).reject(tooManyWait());
  }

  /** Keeps the caches of threads right while they execute something. */
  onCommit({ previous, ts, rows, entries }: CommitNotice): void {
    const notice = { previous, ts, rows, entries };
    for (const thread of this.threads) if (thread.busy) send(thread, { type: 'commit', notice });
  }

  /** Refuses what waits. @param ms what runs may go on for so long */
  async close(ms = 0): Promise<void> {
    this.isClosed = true;
    this.rejectWaiting(shuttingDown());
    await Promise.all([...this.threads].map((thread) => this.closeThread(thread, ms)));
  }

  private async closeThread(thread: Thread, ms: number): Promise<void> {
    const exited = new Promise((resolve) => thread.worker.once('exit', resolve));
    if (!thread.busy) send(thread, { type: 'close' });
    const end = (): void => this.terminate(thread, shuttingDown());
    const late = setTimeout(end, thread.busy ? ms : LOOK_MS);
    await exited;
    clearTimeout(late);
  }

  private assign(): void {
    for (const thread of this.threads) if (!thread.busy) this.give(thread);
    if (this.isClosed || this.threads.size >= this.options.threads) return;
    const task = this.next();
    if (!task) return;
    try {
      this.give(this.addThread(), task);
    } catch (reason) {
      const refusal = noRoom(reason);
      this.options.report?.(refusal);
      this.queue.putBack(task.name, task);
      // The threads that there are do what waits.
      if (this.threads.size === 0) this.rejectWaiting(refusal);
    }
  }

  private rejectWaiting(reason: Refusal): void {
    for (const task of this.queue.waiting()) {
      this.queue.remove(task.name, task);
      this.settle(task).reject(reason);
    }
  }

  private next(): Task | undefined {
    // With several threads, no credential has all of them.
    const runningMax = Math.max(1, this.options.threads - 1);
    for (;;) {
      const task = this.queue.take(runningMax);
      if (!task?.request.isAbandoned?.()) return task;
      this.queue.end(task.name);
      this.settle(task).reject(abandoned());
    }
  }

  /** An idle thread does not keep the process alive. */
  private give(thread: Thread, task: Task | undefined = this.next()): void {
    thread.busy = task;
    if (!task) {
      if (this.isClosed) send(thread, { type: 'close' });
      thread.worker.unref();
      return;
    }
    clearTimeout(task.timer);
    this.watch(thread, task, this.msLeft(task) + (this.options.graceMs ?? GRACE_MS));
    thread.worker.ref();
    thread.marks.clear();
    const { asked } = task;
    const { fatal } = this.lost;
    send(thread, asked.type === 'push' ? { ...asked, fatal } : asked, partsOf(asked));
  }

  private addThread(): Thread {
    const thread: Thread = { ...this.options.start(), busy: undefined, reason: undefined };
    this.threads.add(thread);
    this.threadsStarted += 1;
    const { worker } = thread;
    worker.on('message', (message: FromEvaluator) => this.receive(thread, message));
    worker.on('error', (reason) => (thread.reason ??= reason));
    worker.on('exit', () => this.remove(thread));
    return thread;
  }

  private receive(thread: Thread, message: FromEvaluator): void {
    const task = thread.busy;
    if (!task) return;
    if (message.type === 'alive') {
      // It waits for the store: a commit may be on its way.
      this.watch(thread, task, this.options.graceMs ?? GRACE_MS);
      return;
    }
    this.queue.end(task.name);
    this.settle(task);
    this.give(thread);
    if (message.type !== 'failed') task.resolve(message);
    else
      task.reject(
        message.code ? new Refusal(message.code, message.message) : new Error(message.message),
      );
  }

  /** Asks the thread after so many ms whether it is stuck. */
  private watch(thread: Thread, task: Task, ms: number): void {
    clearTimeout(task.timer);
    task.timer = setTimeout(() => {
      send(thread, { type: 'look' });
      const stuck = (): void => this.terminate(thread, timedOut(timeoutMsOf(task)));
      task.timer = setTimeout(stuck, this.options.lookMs ?? LOOK_MS);
    }, ms);
  }

  private terminate(thread: Thread, reason: unknown): void {
    thread.reason = reason;
    void thread.worker.terminate();
  }

  /** Its query is answered; another thread takes its place when it is needed. */
  private remove(thread: Thread): void {
    this.threads.delete(thread);
    const { busy: task, reason, marks } = thread;
    if (!this.isClosed) {
      this.threadsLost += 1;
      this.options.report?.(new Error(THREAD_LOST, { cause: reason }));
    }
    if (task) {
      this.queue.end(task.name);
      if (marks.executing !== undefined && !this.isClosed) this.lost.note(marks.executing);
      this.settle(task).reject(marks.mayHaveWritten ? unknownOutcome(reason) : lossOf(reason));
    }
    this.assign();
  }

  private refuseWaiting(task: Task): void {
    if (this.queue.remove(task.name, task)) this.settle(task).reject(timedOut(timeoutMsOf(task)));
  }

  private dropAbandoned(): void {
    for (const task of this.queue.waiting())
      if (task.request.isAbandoned?.() && this.queue.remove(task.name, task))
        this.settle(task).reject(abandoned());
  }

  private settle(task: Task): Task {
    clearTimeout(task.timer);
    return task;
  }

  private msLeft(task: Task): number {
    const { clock } = this.options;
    return timeoutMsOf(task) - (clock() - task.request.arrived) / 1000;
  }
}

const send = ({ worker }: Evaluator, message: ToEvaluator, given: TextParts = []): void =>
  worker.postMessage(
    message,
    given.map(({ buffer }) => buffer),
  );

/** Not copied. */
function partsOf(asked: Asked): TextParts {
  if (asked.type === 'read') return [];
  return (asked.type === 'query' ? asked.request.queryParts : asked.push.parts) ?? [];
}

/** A token is one person's, wherever its queries and pushes come from; a key may be everybody's: its holder counts by address too. */
function nameOf({ secret = '', address = '' }: Credential): string {
  const [plain = ''] = secret.split(':', 1);
  const name = looksLikeToken(plain) ? plain : `${plain} ${address}`;
  return name.length > NAME_CHARS_MAX ? hash('sha256', name, 'base64') : name;
}

/** Longer ones, such as signed tokens of others, are kept as hashes: so many names are remembered. */
const NAME_CHARS_MAX = 128;

const timeoutMsOf = ({ request }: Task): number =>
  request.timeoutMs ?? LIMITS.queryTimeoutDefaultMs;

const tooManyWait = (): Refusal =>
  new Refusal('too many requests', 'Too many long queries wait: try later.');
const noRoom = (cause: unknown): Refusal =>
  new Refusal(
    'storage_unavailable',
    'The hub has no room for a thread that executes long queries: try again.',
    { cause },
  );
const abandoned = (): Refusal =>
  new Refusal('time out', 'The client disconnected while the query waited.');

const unknownOutcome = (cause: unknown): Refusal =>
  new Refusal(
    'storage_unavailable',
    'The thread that executed the query has ended: check whether its write was made before you retry it.',
    { cause },
  );

const THREAD_LOST = 'A thread for long queries has ended: the next query starts another.';

function lossOf(reason: unknown): unknown {
  const code = codeOf(reason);
  if (code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new Refusal('limit_exceeded', 'The query exceeds its memory limit.');
  if (code === 'ERR_WORKER_INIT_FAILED') return noRoom(reason);
  return reason ?? new Error('The thread of a long query has ended.');
}
