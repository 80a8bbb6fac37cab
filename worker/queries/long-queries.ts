/** Executes long queries one after the other in a second worker, so that short ones do not wait for them. */
import { elapsed } from '../../hosts/clock.ts';
import type {
  ArrivedQuery,
  LongQueries,
  QueryAnswer,
  QueryRequest,
} from '../../src/engine/host.ts';
import { Refusal } from '../../src/errors.ts';
import { LIMITS } from '../../src/limits.ts';
import { BusyCallers } from './busy-callers.ts';
import type { EvaluatorOptions, FromEvaluator, ToEvaluator } from './evaluator-messages.ts';

export interface LongQueriesOptions {
  readonly start: () => Worker;
  readonly evaluator: () => EvaluatorOptions;
  /** Executes a query in this worker, when no second worker can be started. */
  readonly executeHere: (request: ArrivedQuery, isSynced: boolean) => Promise<QueryAnswer>;
}

type Caller = Pick<QueryRequest, 'secret'>;

interface Task {
  readonly request: ArrivedQuery;
  readonly isSynced: boolean;
  /** By `elapsed()`, because the wall clock may be set while the query is executed. */
  readonly since: number;
  readonly resolve: (answer: QueryAnswer | Promise<QueryAnswer>) => void;
  readonly reject: (reason: unknown) => void;
}

interface Evaluator {
  readonly worker: Worker;
  isOpen: boolean;
  busy: Task | undefined;
  /** The query has begun to write: from now on only the second worker knows its outcome. */
  isWriting: boolean;
}

/**
 * How long a query is evaluated in this worker, in ms. Few queries take longer; those are started again in the second worker, which takes
 * longer still. If there was a long query recently, time slices of reads are short, so that many in a row do not add up.
 */
const TURN_MS = 600;
const RECENT_TURN_MS = 25;
const TURN_MIN_MS = 4;
const RECENT_MICROS = 30_000_000;
/** A longer text takes longer to parse than most queries take to execute, so it goes to the second worker unparsed. */
const TEXT_CHARS_MAX = 1024 * 1024;
/** How often, in ms, to check whether queries were aborted or have timed out. */
const LOOK_MS = 50;
/** The second worker stops a query at its time limit by itself. If it has not done so after this time (ms), it is stuck. */
const GRACE_MS = 5_000;
const IDLE_MS = 30_000;

export class SecondWorkerQueries implements LongQueries {
  readonly textCharsMax = TEXT_CHARS_MAX;
  private readonly options: LongQueriesOptions;
  private readonly waiting: Task[] = [];
  private readonly callers = new BusyCallers();
  private evaluator: Evaluator | undefined = undefined;
  private checking: ReturnType<typeof setInterval> | undefined = undefined;
  private idle: ReturnType<typeof setTimeout> | undefined = undefined;
  /** When there was a long query last, by `elapsed()`. */
  private metAt = -Infinity;
  private runsInline = false;
  private isClosed = false;

  constructor(options: LongQueriesOptions) {
    this.options = options;
  }

  turnMs({ secret }: Caller, turn?: { readonly mayWrite?: boolean }): number {
    if (this.runsInline) return Infinity;
    // Not shortened by recent long queries: an app that loads many documents waits for that write anyway.
    if (turn?.mayWrite === true) return TURN_MS;
    const now = elapsed();
    const inFlight = this.waiting.length + (this.evaluator?.busy ? 1 : 0);
    if (inFlight > 0) this.metAt = now;
    if (now - this.metAt > RECENT_MICROS)
      return this.callers.holdsUpOthers(secret) ? RECENT_TURN_MS : TURN_MS;
    return Math.max(TURN_MIN_MS, RECENT_TURN_MS / (1 + inFlight));
  }

  whenFree({ secret }: Caller): Promise<void> | undefined {
    return this.callers.whenFree(secret);
  }

  recordTime({ secret }: Caller, ms: number): void {
    this.callers.note(secret, ms);
  }

  execute(request: ArrivedQuery, isSynced = false): Promise<QueryAnswer> {
    if (this.runsInline) return this.options.executeHere(request, isSynced);
    if (this.isClosed) return Promise.reject(closed());
    const since = elapsed();
    this.metAt = since;
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, isSynced, since, resolve, reject });
      this.checking ??= setInterval(() => this.check(), LOOK_MS);
      this.assign();
    });
  }

  /** For reads of the synced identity. */
  get ofCopy(): LongQueries {
    return {
      turnMs: (request) => this.turnMs(request),
      whenFree: (request) => this.whenFree(request),
      recordTime: (request, ms) => this.recordTime(request, ms),
      execute: (request) => this.execute(request, true),
    };
  }

  /**
   * An idle second worker is not terminated: it ends with this worker. Until then, it is notified when the database is deleted and closes
   * its connection.
   */
  close(): void {
    this.isClosed = true;
    const { evaluator } = this;
    if (!evaluator?.isOpen || evaluator.busy) this.drop(closed());
    for (const { reject } of this.waiting.splice(0)) reject(closed());
    clearTimeout(this.idle);
    this.stopLooking();
  }

  private assign(): void {
    const evaluator = this.evaluator ?? (this.waiting.length > 0 ? this.start() : undefined);
    if (!evaluator) this.stopLooking();
    if (!evaluator?.isOpen || evaluator.busy) return;
    clearTimeout(this.idle);
    const task = this.waiting.shift();
    evaluator.busy = task;
    evaluator.isWriting = false;
    if (task) {
      const { isAbandoned: _, ...request } = task.request;
      post(evaluator, { type: 'query', query: { request, isSynced: task.isSynced } });
      return;
    }
    this.stopLooking();
    this.idle = setTimeout(() => this.drop(closed()), IDLE_MS);
  }

  private stopLooking(): void {
    clearInterval(this.checking);
    this.checking = undefined;
  }

  private start(): Evaluator | undefined {
    try {
      const evaluator: Evaluator = {
        worker: this.options.start(),
        isOpen: false,
        busy: undefined,
        isWriting: false,
      };
      this.evaluator = evaluator;
      const { worker } = evaluator;
      worker.addEventListener('message', ({ data }: MessageEvent<FromEvaluator>) => {
        if (this.evaluator === evaluator) this.onMessage(evaluator, data);
      });
      worker.addEventListener('error', (event) => {
        event.preventDefault();
        if (this.evaluator === evaluator) this.lose(evaluator);
      });
      post(evaluator, { type: 'open', options: this.options.evaluator() });
      return evaluator;
    } catch {
      this.runInline();
      return undefined;
    }
  }

  private onMessage(evaluator: Evaluator, message: FromEvaluator): void {
    const { busy } = evaluator;
    switch (message.type) {
      case 'opened':
        evaluator.isOpen = true;
        break;
      case 'may-write':
        evaluator.isWriting = true;
        post(evaluator, { type: 'write' });
        return;
      case 'answer':
        evaluator.busy = undefined;
        busy?.resolve(message.answer);
        break;
      case 'refused': {
        const { code, description } = message.refusal;
        evaluator.busy = undefined;
        busy?.reject(new Refusal(code, description));
      }
    }
    this.assign();
  }

  /** Stops queries that were aborted or have timed out. A worker that is evaluating receives no messages, so it is terminated. */
  private check(): void {
    const now = elapsed();
    const isOver = ({ request, since }: Task): boolean => {
      const { timeoutMs = LIMITS.queryTimeoutDefaultMs, isAbandoned } = request;
      return isAbandoned?.() === true || now > since + (timeoutMs + GRACE_MS) * 1000;
    };
    for (const task of this.waiting.filter(isOver)) {
      this.waiting.splice(this.waiting.indexOf(task), 1);
      task.reject(stopped());
    }
    const { evaluator } = this;
    if (!evaluator?.busy || !isOver(evaluator.busy)) return;
    // A commit in progress is not interrupted: the second worker checks the time limit itself before it commits.
    if (evaluator.isWriting) return;
    this.drop(stopped());
    this.assign();
  }

  /** @param reason the error for the query that is running */
  private drop(reason: Refusal): void {
    const { evaluator } = this;
    clearTimeout(this.idle);
    this.evaluator = undefined;
    evaluator?.worker.terminate();
    evaluator?.busy?.reject(evaluator.isWriting ? unknownOutcome() : reason);
  }

  private lose(evaluator: Evaluator): void {
    if (!evaluator.isOpen) {
      this.runInline();
      return;
    }
    this.drop(
      new Refusal('internal server error', 'The worker that executed the query has ended.'),
    );
    this.assign();
  }

  /** No second worker can be started, so all queries are executed here, however long they take. */
  private runInline(): void {
    this.runsInline = true;
    this.drop(closed());
    this.stopLooking();
    for (const { request, isSynced, resolve } of this.waiting.splice(0))
      resolve(this.options.executeHere(request, isSynced));
  }
}

const post = ({ worker }: Evaluator, message: ToEvaluator): void => worker.postMessage(message);

export const closed = (): Refusal => new Refusal('storage_unavailable', 'The database was closed.');
const stopped = (): Refusal => new Refusal('time out', 'The query was stopped.');
const unknownOutcome = (): Refusal =>
  new Refusal(
    'storage_unavailable',
    'The worker that executed the query has ended. It is unknown whether the query took effect.',
  );
