/**
 * Live queries of one request: each runs again when a commit touches what it has read, as the caller of the request, and its answer is sent
 * when that differs. Nothing runs while the reader does not read. Not a generator: one that waits cannot be told to return.
 */
import { after } from '../../hosts/after.ts';
import { utf8Length } from '../../src/codec/utf8.ts';
import { refusalBody, refusedAnswer } from '../../src/engine/session.ts';
import type { QueryAnswer, ReadSet } from '../../src/engine/host.ts';
import { Refusal } from '../../src/errors.ts';
import { LIVE_PLACE } from '../../src/fault-texts.ts';
import { runQuery, type ReceivedRequest } from '../../src/http/answer-query.ts';
import { boundedReads } from '../evaluators/bounded-reads.ts';
import { partsOf } from '../http/parts.ts';
import type { RouteCaller } from '../http/route.ts';
import type { Changes } from '../../src/http/changes.ts';
import type { Follower } from './live-feed.ts';

export interface LiveRequest {
  readonly query: string;
  /** The tag of the answer that the caller has: the same one is not sent again. */
  readonly told: string | undefined;
}

export interface LiveStreamOptions {
  readonly call: Omit<ReceivedRequest, 'arrived'>;
  readonly caller: RouteCaller;
  readonly queries: readonly LiveRequest[];
  readonly heartbeatMs: number;
  readonly factsMax: number;
  /** Resolves, with what is to be called at its end, when a query may run: a few of each credential do at once. */
  readonly enter: (name: string) => Promise<() => void>;
  readonly tagOf: TagOf;
  readonly onClose: () => void;
}

interface LiveQuery {
  readonly number: number;
  readonly query: string;
  told: string | undefined;
  reads: ReadSet | undefined;
  /** What has changed while it runs: its answer may be from before. */
  meanwhile: Changes[] | undefined;
  isStale: boolean;
  /** Not before then does it run again. */
  restsUntilMs: number;
}

/** One that took longer rests for as long as it took, `REST_MAX_MS` at most. */
const QUICK_MS = 20;
const REST_MAX_MS = 5_000;
/** One that was refused rests so many times as long, and for a heartbeat at least. */
const REFUSED_REST = 4;
/** So many of `meanwhile` count as a change of what was read. */
const MEANWHILE_MAX = 64;
/** Characters or bytes written at once; longer answers count as not read yet until they are. */
const PART_LENGTH = 64 * 1024;

/** Bytes: of a long answer, made by the thread that executed the query. */
type Part = string | Uint8Array;

/** Makes a text that only this answer has, of base64url or hex. */
export type TagOf = (status: number, parts: readonly Part[]) => Promise<string>;

export class LiveStream implements AsyncIterable<Part>, AsyncIterator<Part>, Follower {
  private readonly options: LiveStreamOptions;
  private readonly queries: readonly LiveQuery[];
  /** What is written next. */
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
      meanwhile: undefined,
      isStale: true,
      restsUntilMs: 0,
    }));
  }

  get size(): number {
    return this.queries.length;
  }

  onChanges(changes: Changes): void {
    let isNew = false;
    for (const live of this.queries) {
      if (live.meanwhile) {
        if (live.meanwhile.push(changes) < MEANWHILE_MAX) continue;
        live.isStale = true;
        live.meanwhile = [];
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

  /** Does what is due, or waits for it. */
  private async step(): Promise<void> {
    const { heartbeatMs, call } = this.options;
    const now = performance.now();
    if (now >= this.beatsAtMs) {
      this.beatsAtMs = now + heartbeatMs;
      // A token also ends by itself, without a commit. A store that cannot be read now says nothing about it.
      if (await call.host.engine.authenticate(call.secret ?? '').catch(() => true))
        this.parts.push(': still here\n\n');
      else this.end(401, refusalBody('unauthorized', 'Unauthorized'));
      return;
    }
    const stale = this.queries.filter(({ isStale }) => isStale);
    const live = stale.find(({ restsUntilMs }) => restsUntilMs <= now);
    if (live) return this.refresh(live);
    const until = stale.map(({ restsUntilMs }) => restsUntilMs);
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
      live.restsUntilMs = performance.now() + end.retryAfterSeconds * 1000;
      return;
    }
    live.isStale = false;
    live.meanwhile = [];
    const begun = performance.now();
    const answer = await this.ask(live).finally(end);
    const meanwhile = live.meanwhile ?? [];
    live.meanwhile = undefined;
    if (this.isClosed) return;
    const now = performance.now();
    const took = now - begun;
    if (took > QUICK_MS) live.restsUntilMs = now + Math.min(took, REST_MAX_MS);
    if (isRefused(answer)) {
      // Unknown what it would read: perhaps no commit makes it run again.
      live.isStale = true;
      live.restsUntilMs = now + Math.max(heartbeatMs, took * REFUSED_REST);
    } else live.reads = boundedReads(answer.readSet, this.options.factsMax);
    const { reads } = live;
    if (reads && meanwhile.some((changes) => changes.touches(reads))) live.isStale = true;
    await this.tell(live, answer);
  }

  private async ask({ query }: LiveQuery): Promise<QueryAnswer> {
    const { host } = this.options.call;
    const call = { ...this.options.call, arrived: host.clock() };
    try {
      return await runQuery(call, {
        query,
        allows: 'read',
        placeName: LIVE_PLACE,
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

  /** It is asked again: what others have not read yet may be read by then. */
  private async refuseLong(live: LiveQuery): Promise<void> {
    live.isStale = true;
    live.restsUntilMs = performance.now() + this.options.heartbeatMs;
    const sentence = 'Too many answers are still unread: read them, or end live queries.';
    const body = refusalBody('storage_blocked', sentence);
    await this.tell(live, { ...refusedAnswer(INTERNAL, 0), status: 503, body });
  }

  /** The last that is sent. */
  private end(status: number, body: string): void {
    this.isEnded = true;
    this.parts = [`event: ended\ndata: ${status}\ndata: ${body}\n\n`];
  }
}

const INTERNAL = new Refusal(
  'internal server error',
  'Internal error in the database while running the live query.',
);

/** As a whole, and not for what it says or finds: for time, or memory. */
const isRefused = ({ status, faults }: QueryAnswer): boolean => status >= 400 && !faults;
