/**
 * Decides how long the main thread evaluates queries, and executes long ones in a few threads, so that the main thread has time for all
 * others.
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
import { assert } from '../../src/errors.ts';
import { LoopTurns } from '../event-loop/loop-turns.ts';
import { HeldBack, type HeldBackCount } from '../monitoring/held-back.ts';
import type { LongQueryCounts } from '../monitoring/metrics.ts';
import { KnownDatabases } from './known-databases.ts';
import type { LongPush, LongRead, Pushed, ReadAnswer } from './messages.ts';
import type { Answered, Asked } from './supervised-thread.ts';
import { ThreadPool, type ThreadPoolOptions, type Timing } from './thread-pool.ts';

export interface EvaluatorPoolOptions extends ThreadPoolOptions {
  /** In ms; used for turns of the event loop. */
  readonly loopClock?: () => number;
}

/** What is known about the sender of a request. `line`, if the name has already been computed. */
type Credential = Pick<QueryRequest, 'secret' | 'address' | 'line'>;

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
  private readonly threads: ThreadPool;

  constructor(options: EvaluatorPoolOptions) {
    this.options = options;
    this.loop = new LoopTurns(undefined, options.loopClock);
    this.threads = new ThreadPool(options);
  }

  get counts(): LongQueryCounts {
    return this.threads.counts;
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
  turnMs(request: Credential, { evaluatedMs = 0 }: { readonly evaluatedMs?: number } = {}): number {
    const name = nameOf(request);
    const mostMs = this.isBusy(name) ? BUSY_TURN_MS : TURN_MS;
    const turnMs = Math.max(TURN_MIN_MS, mostMs / (1 + this.threads.countOf(name)));
    return Math.max(0, turnMs - evaluatedMs);
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

  private run(credential: Credential, asked: Asked, timing: Timing): Promise<Answered> {
    return this.threads.run(this.lineOf(credential), asked, timing);
  }

  /** Passes a commit to the threads. */
  onCommit(notice: CommitNotice): void {
    this.threads.onCommit(notice);
  }

  /** Refuses all waiting tasks. @param ms how long running tasks may continue */
  close(ms = 0): Promise<void> {
    return this.threads.close(ms);
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
