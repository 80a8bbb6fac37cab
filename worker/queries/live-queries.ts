/**
 * Live queries: each runs again when a commit changes what it has read, and emits its answer if that is different. An answer may be older
 * than the newest commit, whose notice then causes another run. It is never older than the previous answer, or than a commit of which
 * this worker was notified.
 */
import { refusalBody } from '../../src/engine/session.ts';
import type { CommitNotice, ReadSet } from '../../src/engine/host.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { Changes } from '../../src/http/changes.ts';
import type { MissingSet } from '../../src/answers.ts';
import { Refusal, type RefusalCode } from '../../src/errors.ts';
import { LIVE_QUERY_CONTEXT } from '../../src/fault-texts.ts';
import type { Micros } from '../../src/values/value.ts';
import { pageBody } from './page-body.ts';

export interface LiveOptions {
  readonly engine: Pick<Engine, 'query'>;
  readonly emit: (id: number, answer: LiveAnswer) => void;
  readonly pause: () => Promise<void>;
  /** Monotonic time in ms. */
  readonly now: () => number;
}

export interface LiveAnswer {
  readonly status: number;
  readonly body: string;
  readonly missing?: readonly MissingSet[];
  readonly isFromHub?: true;
}

interface Run extends LiveAnswer {
  /** Undefined when it is not known, so that any commit may change the answer. */
  readonly readSet: ReadSet | undefined;
  readonly head?: Micros | undefined;
  readonly isHeldUp: boolean;
}

interface LiveQuery {
  readonly id: number;
  readonly secret: string;
  readonly query: string;
  readSet: ReadSet | undefined;
  sent: string | undefined;
  /** The commit whose state the last answer shows. */
  shown: Micros | undefined;
  /** Commits during the present run: its answer may not include them. Undefined while the query is not running. */
  meanwhile: Changes[] | undefined;
  /** Duration of the last run, in ms. */
  took: number;
  /** How often the query has run, and how often its answer was a different one. */
  runs: number;
  answers: number;
}

/** For the inspector. */
export type LiveState = Readonly<
  Pick<LiveQuery, 'id' | 'secret' | 'query' | 'readSet' | 'took' | 'runs' | 'answers'>
>;

/** Limit for one page. */
export const LIVE_QUERIES_MAX = 1000;
/** The first query of a round runs without a pause if its last run took no longer than this, in ms. */
const QUICK_MS = 2;

export class LiveQueries {
  private readonly options: LiveOptions;
  private readonly byId = new Map<number, LiveQuery>();
  /** Queries beyond the limit: the arguments of `add()`. */
  private readonly waiting = new Map<
    number,
    readonly [id: number, secret: string, query: string]
  >();
  /** Queries that wait to run, in order. */
  private readonly stale = new Set<LiveQuery>();
  private isRunning = false;
  /** The newest commit of which this worker was notified. */
  private latestCommit: Micros = 0;

  constructor(options: LiveOptions) {
    this.options = options;
  }

  add(id: number, secret: string, query: string): void {
    if (this.byId.size >= LIVE_QUERIES_MAX) {
      this.waiting.set(id, [id, secret, query]);
      const sentence = `At most ${LIVE_QUERIES_MAX} live queries can be open at once. This one starts when another ends.`;
      this.refuse(id, new Refusal('too many requests', sentence));
      return;
    }
    const live: LiveQuery = {
      id,
      secret,
      query,
      readSet: undefined,
      sent: undefined,
      shown: undefined,
      meanwhile: undefined,
      took: Infinity,
      runs: 0,
      answers: 0,
    };
    this.byId.set(id, live);
    this.refresh(live);
  }

  refuse(id: number, refusal: Refusal): void {
    this.options.emit(id, refused(refusal));
  }

  remove(id: number): void {
    this.waiting.delete(id);
    const live = this.byId.get(id);
    if (!live) return;
    this.byId.delete(id);
    this.stale.delete(live);
    const [next] = this.waiting.values();
    if (!next) return;
    this.waiting.delete(next[0]);
    this.add(...next);
  }

  states(): readonly LiveState[] {
    return [...this.byId.values()];
  }

  /** @param isComplete false: notices of earlier commits were missed, so anything may have changed */
  onCommit(notice: CommitNotice, isComplete: boolean): void {
    this.latestCommit = Math.max(this.latestCommit, notice.ts);
    const changes = new Changes(isComplete ? [notice] : undefined);
    for (const live of this.byId.values()) {
      live.meanwhile?.push(changes);
      const isTouched = !live.readSet || changes.touches(live.readSet);
      if (isTouched && !live.meanwhile) this.refresh(live);
      else if (!isComplete) this.stale.add(live);
    }
  }

  close(): void {
    this.byId.clear();
    this.stale.clear();
    this.waiting.clear();
  }

  private refresh(live: LiveQuery): void {
    this.stale.add(live);
    if (!this.isRunning) void this.runStale();
  }

  /**
   * Runs the queries one after the other, with a pause between them, so a burst of commits causes one run of each query per round. The
   * first one runs immediately if it is quick, because a pause may take longer than the query.
   */
  private async runStale(): Promise<void> {
    this.isRunning = true;
    const [first] = this.stale;
    if (!first || first.took > QUICK_MS) await this.options.pause();
    for (const live of this.stale) {
      this.stale.delete(live);
      await this.run(live);
      await this.options.pause();
    }
    this.isRunning = false;
  }

  private async run(live: LiveQuery): Promise<void> {
    live.meanwhile = [];
    live.runs += 1;
    const { now } = this.options;
    const startedAt = now();
    const answer = await this.ask(live);
    live.took = now() - startedAt;
    const { meanwhile } = live;
    live.meanwhile = undefined;
    if (!this.byId.has(live.id)) return;
    const { readSet } = answer;
    live.readSet = readSet;
    live.shown = answer.head;
    const isTouched = meanwhile.some((changes) => !readSet || changes.touches(readSet));
    // A run that failed because another tab blocked the store may have missed the commit that caused it, so it is repeated. This is no
    // busy loop: the store waits before it fails.
    if (isTouched || answer.isHeldUp) this.stale.add(live);
    const { status, body, missing = [], isFromHub } = answer;
    const sent = missing.length === 0 ? body : `${body} ${JSON.stringify(missing)}`;
    if (sent === live.sent) return;
    live.sent = sent;
    live.answers += 1;
    this.options.emit(live.id, {
      status,
      body,
      ...(missing.length > 0 && { missing }),
      ...(isFromHub && { isFromHub }),
    });
  }

  private async ask({ secret, query, readSet, shown }: LiveQuery): Promise<Run> {
    try {
      const answer = await this.options.engine.query({
        secret,
        query,
        apiVersion: '4',
        allows: 'read',
        placeName: LIVE_QUERY_CONTEXT,
        // The first answer must be based on the newest state.
        ...(shown !== undefined && { minSnapshot: Math.max(shown, this.latestCommit) }),
      });
      const { refusal } = answer;
      const run = { ...answer, body: pageBody(answer, secret), isHeldUp: isHeldUp(refusal) };
      // A refused query has read nothing, so its previous read set still decides when it runs again.
      return refusal === undefined ? run : { ...run, readSet, head: shown };
    } catch (reason) {
      const code = reason instanceof Refusal ? reason.code : undefined;
      return { ...refused(reason), readSet, head: shown, isHeldUp: isHeldUp(code) };
    }
  }
}

const isHeldUp = (code: RefusalCode | undefined): boolean => code === 'storage_blocked';

export function refused(reason: unknown): LiveAnswer {
  if (reason instanceof Refusal) {
    return { status: reason.status, body: refusalBody(reason.code, reason.message) };
  }
  const sentence = 'Internal error in the database while running the live query.';
  return { status: 500, body: refusalBody('internal server error', sentence) };
}
