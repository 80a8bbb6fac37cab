/**
 * The live queries of one request. Each runs again, as the caller of the request, when a commit changes something that it has
 * read; its answer is sent if it differs from the last one. Nothing runs while the client does not read. Not an async generator,
 * because `return()` of a generator has to wait for its pending `next()`.
 */
import { after } from '../../hosts/after.ts';
import { utf8Length } from '../../src/codec/utf8.ts';
import { refusalBody, refusedAnswer } from '../../src/engine/session.ts';
import type { QueryAnswer, ReadSet } from '../../src/engine/host.ts';
import { Refusal } from '../../src/errors.ts';
import { LIVE_QUERY_CONTEXT } from '../../src/fault-texts.ts';
import { runQuery, type ReceivedRequest } from '../../src/http/answer-query.ts';
import { boundedReads } from '../evaluators/bounded-reads.ts';
import { partsOf } from '../http/parts.ts';
import type { RouteCaller } from '../http/route.ts';
import type { Changes } from '../../src/http/changes.ts';
import type { Follower } from './live-feed.ts';

export interface LiveRequest {
  readonly query: string;
  /** The tag of the answer that the caller already has: the same answer is not sent again. */
  readonly told: string | undefined;
}

export interface LiveStreamOptions {
  readonly call: Omit<ReceivedRequest, 'arrived'>;
  readonly caller: RouteCaller;
  readonly queries: readonly LiveRequest[];
  readonly heartbeatMs: number;
  readonly factsMax: number;
  /** Resolves when a query may run, with a function to call when it ends. Only a few queries of each credential run at once. */
  readonly enter: (name: string) => Promise<() => void>;
  readonly tagOf: TagOf;
  readonly onClose: () => void;
}

interface LiveQuery {
  readonly number: number;
  readonly query: string;
  told: string | undefined;
  reads: ReadSet | undefined;
  /** Changes that arrive while the query runs, because its answer may be older than they are. */
  pendingChanges: Changes[] | undefined;
  isStale: boolean;
  /** The query does not run again before this time. */
  notBeforeMs: number;
}

/** A query that took longer than `QUICK_MS` rests for as long as it took, up to `REST_MAX_MS`. */
const QUICK_MS = 20;
const REST_MAX_MS = 5_000;
/** A refused query rests for this many times as long as it took, and at least for a heartbeat. */
const REFUSED_REST = 4;
/** If this many changes arrive while a query runs, the query counts as changed without comparing them. */
const PENDING_CHANGES_MAX = 64;
/** Characters or bytes written at once. Longer answers count as unread until they are written. */
const PART_LENGTH = 64 * 1024;

/** Bytes are part of a long answer that a thread for long queries has encoded. */
type Part = string | Uint8Array;

/** Computes a tag that identifies an answer, in base64url or hex. */
export type TagOf = (status: number, parts: readonly Part[]) => Promise<string>;

export class LiveStream implements AsyncIterable<Part>, AsyncIterator<Part>, Follower {
  private readonly options: LiveStreamOptions;
  private readonly queries: readonly LiveQuery[];
  /** The parts to write next. */
  private parts: Part[] = [': hello\n\n'];
  private release: (() => void) | undefined = undefined;
  private beatsAtMs: number;
  private wake: (() => void) | undefined = undefined;
  private isClosed = false;
  private isEnded = false;

  constructor(options: LiveStreamOptions) {
    this.options = options;
    this.beatsAtMs = performance.now() + options.heartbeatMs;
    this.queries = options.queries.map(({ query, told }, number) => ({
      number,
      query,
      told,
      reads: undefined,
      pendingChanges: undefined,
      isStale: true,
      notBeforeMs: 0,
    }));
  }

  get size(): number {
    return this.queries.length;
  }

  onChanges(changes: Changes): void {
    let isNew = false;
    for (const live of this.queries) {
      if (live.pendingChanges) {
        if (live.pendingChanges.push(changes) < PENDING_CHANGES_MAX) continue;
        live.isStale = true;
        live.pendingChanges = [];
      } else if (!live.isStale && (!live.reads || changes.touches(live.reads)))
        isNew = live.isStale = true;
    }
    if (isNew) this.wake?.();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Part, undefined>> {
    for (;;) {
      const part = this.isClosed ? undefined : this.parts.shift();
      if (part !== undefined) return { done: false, value: part };
      this.release?.();
      this.release = undefined;
      if (this.isEnded) await this.return();
      if (this.isClosed) return { done: true, value: undefined };
      await this.step();
    }
  }

  return(): Promise<IteratorResult<Part, undefined>> {
    if (!this.isClosed) {
      this.isClosed = true;
      this.parts = [];
      this.release?.();
      this.release = undefined;
      this.options.onClose();
      this.wake?.();
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Does what is due, or waits until something is. */
  private async step(): Promise<void> {
    const { heartbeatMs, call } = this.options;
    const now = performance.now();
    if (now >= this.beatsAtMs) {
      this.beatsAtMs = now + heartbeatMs;
      // Checked with each heartbeat, because a token can also expire without a commit. If the store cannot be read now, the token
      // counts as valid.
      if (await call.host.engine.authenticate(call.secret ?? '').catch(() => true))
        this.parts.push(': still here\n\n');
      else this.end(401, refusalBody('unauthorized', 'Unauthorized'));
      return;
    }
    const stale = this.queries.filter(({ isStale }) => isStale);
    const live = stale.find(({ notBeforeMs }) => notBeforeMs <= now);
    if (live) return this.refresh(live);
    const until = stale.map(({ notBeforeMs }) => notBeforeMs);
    await this.waitUntil(Math.min(this.beatsAtMs, ...until) - now);
  }

  private waitUntil(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.wake = undefined;
        resolve();
      };
      const cancel = after(ms, done);
      this.wake = done;
    });
  }

  private async refresh(live: LiveQuery): Promise<void> {
    const { caller, enter } = this.options;
    const leave = await enter(caller.name);
    try {
      if (!this.isClosed) await this.runNow(live);
    } finally {
      leave();
    }
  }

  private async runNow(live: LiveQuery): Promise<void> {
    const { caller, heartbeatMs } = this.options;
    const end = await caller.admit();
    if (typeof end !== 'function') {
      live.notBeforeMs = performance.now() + end.retryAfterSeconds * 1000;
      return;
    }
    live.isStale = false;
    live.pendingChanges = [];
    const begun = performance.now();
    const answer = await this.ask(live).finally(end);
    const pendingChanges = live.pendingChanges ?? [];
    live.pendingChanges = undefined;
    if (this.isClosed) return;
    const now = performance.now();
    const took = now - begun;
    if (took > QUICK_MS) live.notBeforeMs = now + Math.min(took, REST_MAX_MS);
    if (isRefused(answer)) {
      // What a refused query would read is unknown, so perhaps no commit would make it run again.
      live.isStale = true;
      live.notBeforeMs = now + Math.max(heartbeatMs, took * REFUSED_REST);
    } else live.reads = boundedReads(answer.readSet, this.options.factsMax);
    const { reads } = live;
    if (reads && pendingChanges.some((changes) => changes.touches(reads))) live.isStale = true;
    await this.tell(live, answer);
  }

  private async ask({ query }: LiveQuery): Promise<QueryAnswer> {
    const { host } = this.options.call;
    const call = { ...this.options.call, arrived: host.clock() };
    try {
      return await runQuery(call, {
        query,
        allows: 'read',
        placeName: LIVE_QUERY_CONTEXT,
        takesBytes: true,
      });
    } catch (reason) {
      host.report?.(reason);
      return refusedAnswer(INTERNAL, call.arrived);
    }
  }

  private async tell(live: LiveQuery, { status, body: text, bytes }: QueryAnswer): Promise<void> {
    const body = bytes ?? text;
    if (status === 401) return this.end(status, text);
    const parts = [...partsOf(body, PART_LENGTH)];
    const length = bytes?.length ?? (parts.length > 1 ? utf8Length(text) : 0);
    const release = length > 0 ? this.options.caller.hold(length) : () => undefined;
    if (!release) return this.refuseLong(live);
    const tag = await this.options.tagOf(status, parts);
    if (this.isClosed || live.told === tag) return release();
    live.told = tag;
    this.release = release;
    const head = `event: answer\ndata: ${live.number} ${status} ${tag}\ndata: `;
    this.parts = length > 0 ? [head, ...parts, '\n\n'] : [`${head}${text}\n\n`];
  }

  /** Sends a refusal and tries again later, when other answers may have been read. */
  private async refuseLong(live: LiveQuery): Promise<void> {
    live.isStale = true;
    live.notBeforeMs = performance.now() + this.options.heartbeatMs;
    const sentence = 'Too many answers are still unread: read them, or end live queries.';
    const body = refusalBody('storage_blocked', sentence);
    await this.tell(live, { ...refusedAnswer(INTERNAL, 0), status: 503, body });
  }

  /** Sends the last event of the stream. */
  private end(status: number, body: string): void {
    this.isEnded = true;
    this.parts = [`event: ended\ndata: ${status}\ndata: ${body}\n\n`];
  }
}

const INTERNAL = new Refusal(
  'internal server error',
  'Internal error in the database while running the live query.',
);

/** Whether the query was refused as a whole, for example for its time or memory, and not because of faults in it. */
const isRefused = ({ status, faults }: QueryAnswer): boolean => status >= 400 && !faults;
