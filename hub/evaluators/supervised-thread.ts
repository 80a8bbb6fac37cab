/** A thread for long queries. It executes one task at a time. If it does not respond after the timeout of its task, it is terminated. */
import type { Worker } from 'node:worker_threads';
import { codeOf } from '../../hosts/node-errors.ts';
import { timedOut } from '../../src/engine/context.ts';
import { Refusal } from '../../src/errors.ts';
import { shuttingDown } from '../passwords/password-pool.ts';
import type { FromEvaluator, ToEvaluator } from './messages.ts';
import type { QueryMarks } from './query-marks.ts';
import type { TextParts } from './text-parts.ts';

export interface Evaluator {
  readonly worker: Worker;
  readonly marks: QueryMarks;
}

export type Asked = Extract<ToEvaluator, { readonly type: 'query' | 'push' | 'read' }>;
export type Answered = Exclude<FromEvaluator, { readonly type: 'failed' | 'alive' }>;

export interface Task {
  /** The name of its credential. */
  readonly name: string;
  readonly asked: Asked;
  readonly timeoutMs: number;
  readonly resolve: (answer: Answered) => void;
  readonly reject: (reason: unknown) => void;
}

export interface Patience {
  /** How long after the timeout of a task the thread is asked whether it still responds. */
  readonly graceMs?: number;
  /** How long the thread then has to answer. */
  readonly lookMs?: number;
}

const GRACE_MS = 1000;
const LOOK_MS = 2000;

interface ThreadEvents {
  /** Called when the thread has executed its task, before the task is settled. */
  readonly onFree: (task: Task) => void;
  /** Called when the thread has ended. @param reason why it was terminated, or what it threw */
  readonly onExit: (reason: unknown) => void;
}

export class SupervisedThread {
  private readonly worker: Worker;
  private readonly marks: QueryMarks;
  private readonly events: ThreadEvents;
  private readonly graceMs: number;
  private readonly lookMs: number;
  private reason: unknown = undefined;
  private timer: ReturnType<typeof setTimeout> | undefined = undefined;
  /** The task that the thread executes, or executed when it ended. */
  task: Task | undefined = undefined;

  constructor(
    { worker, marks }: Evaluator,
    events: ThreadEvents,
    { graceMs = GRACE_MS, lookMs = LOOK_MS }: Patience,
  ) {
    this.worker = worker;
    this.marks = marks;
    this.events = events;
    this.graceMs = graceMs;
    this.lookMs = lookMs;
    worker.on('message', (message: FromEvaluator) => this.receive(message));
    worker.on('error', (reason) => (this.reason ??= reason));
    worker.on('exit', () => this.onExit());
  }

  /** The hash of the device's write that the thread executes, or executed when it ended. */
  get executing(): string | undefined {
    return this.task && this.marks.executing;
  }

  /** @param msLeft until the timeout of the task @param fatal hashes of writes that the thread must not execute */
  execute(task: Task, msLeft: number, fatal: readonly string[]): void {
    this.task = task;
    this.watch(task, msLeft + this.graceMs);
    this.worker.ref();
    this.marks.clear();
    const { asked } = task;
    this.send(asked.type === 'push' ? { ...asked, fatal } : asked, partsOf(asked));
  }

  /** From now on, the idle thread does not keep the process alive. */
  rest(): void {
    this.worker.unref();
  }

  /** @param given parts whose memory is transferred to the thread instead of being copied */
  send(message: ToEvaluator, given: TextParts = []): void {
    this.worker.postMessage(
      message,
      given.map(({ buffer }) => buffer),
    );
  }

  /** Resolves when the thread has ended. @param ms how long its task may continue */
  async close(ms: number): Promise<void> {
    const exited = new Promise((resolve) => this.worker.once('exit', resolve));
    if (!this.task) this.send({ type: 'close' });
    const late = setTimeout(() => this.terminate(shuttingDown()), this.task ? ms : LOOK_MS);
    await exited;
    clearTimeout(late);
  }

  private receive(message: FromEvaluator): void {
    const { task } = this;
    if (!task) return;
    // The thread responds, so it is waiting for the store: a commit may be in progress.
    if (message.type === 'alive') return this.watch(task, this.graceMs);
    clearTimeout(this.timer);
    this.task = undefined;
    this.events.onFree(task);
    if (message.type !== 'failed') return task.resolve(message);
    const { code, message: text } = message;
    task.reject(code ? new Refusal(code, text) : new Error(text));
  }

  /** Asks the thread after this many ms whether it still responds, and terminates it if it does not. */
  private watch({ timeoutMs }: Task, ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.send({ type: 'look' });
      this.timer = setTimeout(() => this.terminate(timedOut(timeoutMs)), this.lookMs);
    }, ms);
  }

  private terminate(reason: unknown): void {
    this.reason = reason;
    void this.worker.terminate();
  }

  private onExit(): void {
    const { task, reason, marks } = this;
    clearTimeout(this.timer);
    this.events.onExit(reason);
    task?.reject(marks.mayHaveWritten ? unknownOutcome(reason) : lossOf(reason));
  }
}

/** The text parts of a task. */
function partsOf(asked: Asked): TextParts {
  if (asked.type === 'read') return [];
  return (asked.type === 'query' ? asked.request.queryParts : asked.push.parts) ?? [];
}

export const noRoom = (cause: unknown): Refusal =>
  new Refusal(
    'storage_unavailable',
    'The hub has no room for a thread that executes long queries: try again.',
    { cause },
  );

const unknownOutcome = (cause: unknown): Refusal =>
  new Refusal(
    'storage_unavailable',
    'The thread that executed the query has ended: check whether its write was made before you retry it.',
    { cause },
  );

function lossOf(reason: unknown): unknown {
  const code = codeOf(reason);
  if (code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new Refusal('limit_exceeded', 'The query exceeds its memory limit.');
  if (code === 'ERR_WORKER_INIT_FAILED') return noRoom(reason);
  return reason ?? new Error('The thread of a long query has ended.');
}
