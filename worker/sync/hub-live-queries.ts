/** Live queries at a hub. Queries that start together share one stream of the hub. A broken stream is reopened. */
import { refusalBody } from '../../src/engine/session.ts';
import { Refusal } from '../../src/errors.ts';
import { abortWith } from '../../hosts/abort-with.ts';
import { waitUnlessAborted } from '../browser/wait.ts';
import type { LiveAnswer } from '../queries/live-queries.ts';
import { SYNC_LIMITS } from '../../src/limits.ts';
import { answerIn, foreign, isUnreached, liveUnreached } from './hub-queries.ts';
import { retryAfterIn } from './http-transport.ts';
import { isEvents, readEvents } from './server-events.ts';

type Emit = (id: number, answer: LiveAnswer) => void;

interface LiveQuery {
  readonly id: number;
  readonly query: string;
  readonly emit: Emit;
  /** Tag of the last emitted answer: the hub does not send that answer again. */
  tag: string | undefined;
}

export interface HubLiveOptions {
  /** Resolves to the response to `POST /live/`. @throws Refusal `hub_unreachable` */
  readonly open: (secret: string, body: string, signal: AbortSignal) => Promise<Response>;
}

/** A page can open only few connections to a hub. Once there are more streams, a new one takes over the queries of the others. */
const STREAMS_MAX = 2;
/** Queries that start within this time (ms) share a stream. The page sends each query in a separate message. */
const GATHER_MS = 4;
/** A stream works if so many parts of it have come. */
const SIGNS_OF_HEALTH = 2;
const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 30_000;

export class HubLiveQueries {
  private readonly options: HubLiveOptions;
  private readonly byId = new Map<number, SecretQueries>();

  constructor(options: HubLiveOptions) {
    this.options = options;
  }

  subscribe(id: number, secret: string, query: string, emit: Emit): void {
    const known = [...this.byId.values()].find((queries) => queries.secret === secret);
    const queries = known ?? new SecretQueries(secret, this.options);
    this.byId.set(id, queries);
    queries.add({ id, query, emit, tag: undefined });
  }

  unsubscribe(id: number): void {
    this.byId.get(id)?.remove(id);
    this.byId.delete(id);
  }

  close(): void {
    for (const queries of this.byId.values()) queries.close();
    this.byId.clear();
  }
}

/** The live queries of one secret. */
class SecretQueries {
  readonly secret: string;
  private readonly options: HubLiveOptions;
  /** Queries that are not part of a stream yet. */
  private readonly fresh = new Map<number, LiveQuery>();
  private readonly streams = new Set<Stream>();
  private gathering: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(secret: string, options: HubLiveOptions) {
    this.secret = secret;
    this.options = options;
  }

  add(live: LiveQuery): void {
    this.fresh.set(live.id, live);
    this.gathering ??= setTimeout(() => this.begin(), GATHER_MS);
  }

  remove(id: number): void {
    if (this.fresh.delete(id)) return;
    for (const stream of this.streams) {
      if (!stream.remove(id)) continue;
      // The remaining queries move to a new stream: the hub would go on evaluating those that were removed.
      if (stream.isMostlyUnused) for (const live of this.take(stream)) this.add(live);
    }
  }

  close(): void {
    clearTimeout(this.gathering);
    for (const stream of this.streams) this.take(stream);
    this.fresh.clear();
  }

  private begin(): void {
    this.gathering = undefined;
    if (this.streams.size >= STREAMS_MAX)
      for (const stream of this.streams)
        for (const live of this.take(stream)) this.fresh.set(live.id, live);
    if (this.fresh.size === 0) return;
    const stream = new Stream([...this.fresh.values()], this.secret, this.options);
    this.fresh.clear();
    this.streams.add(stream);
    void stream.run();
  }

  /** Ends a stream and returns its queries. */
  private take(stream: Stream): Iterable<LiveQuery> {
    this.streams.delete(stream);
    return stream.end();
  }
}

/** Why a stream is not open: the answer that its queries emit, and when to retry. */
interface Failure {
  readonly status: number;
  readonly body: string;
  readonly retryMs: number | undefined;
  /** Not the fault of the queries or their secret; a retry may succeed. */
  readonly isPassing: boolean;
}

class Stream {
  private readonly secret: string;
  private readonly options: HubLiveOptions;
  private readonly byId: Map<number, LiveQuery>;
  private readonly size: number;
  private readonly ended = new AbortController();
  private failures = 0;

  constructor(queries: readonly LiveQuery[], secret: string, options: HubLiveOptions) {
    this.secret = secret;
    this.options = options;
    this.byId = new Map(queries.map((live) => [live.id, live]));
    this.size = queries.length;
  }

  get isMostlyUnused(): boolean {
    return this.byId.size * 2 < this.size || this.byId.size === 0;
  }

  remove(id: number): boolean {
    return this.byId.delete(id);
  }

  end(): Iterable<LiveQuery> {
    this.ended.abort();
    return this.byId.values();
  }

  /** Resolves after `end()` was called. */
  async run(): Promise<void> {
    const { signal } = this.ended;
    while (!signal.aborted) {
      const failure = (await this.follow()) ?? (this.isKnown ? undefined : NO_ANSWER);
      if (signal.aborted) return;
      // The first temporary failure of a stream that has worked is not reported, because the stream may be open again at once.
      if (failure && !(failure.isPassing && this.failures === 0 && this.isKnown))
        this.fail(failure);
      const ms = Math.min(RETRY_MIN_MS * 2 ** this.failures++, RETRY_MAX_MS);
      const waitMs = Math.max(ms * (0.5 + Math.random() / 2), failure?.retryMs ?? 0);
      await waitUnlessAborted(waitMs, signal);
    }
  }

  /** Whether any of the queries has received an answer. */
  private get isKnown(): boolean {
    return [...this.byId.values()].some(({ tag }) => tag !== undefined);
  }

  private fail({ status, body }: Failure): void {
    for (const live of this.byId.values()) {
      // Without its tag, the next answer is emitted even if it is the same as before.
      live.tag = undefined;
      live.emit(live.id, { status, body });
    }
  }

  /** Reads one response, from its start to its end. Undefined: the stream was open, and then broke. */
  private async follow(): Promise<Failure | undefined> {
    const lives = [...this.byId.values()];
    const queries = lives.map(({ query, tag }) => ({ query, told: tag }));
    const broken = abortWith(this.ended.signal);
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      broken.abort();
    }, SYNC_LIMITS.silenceMs);
    try {
      const body = JSON.stringify({ queries });
      const response = await this.options.open(this.secret, body, broken.signal);
      if (!response.ok || !response.body || !isEvents(response))
        return await this.failureOf(response);
      clearTimeout(late);
      return await this.read(response.body, lives, broken);
    } catch (thrown) {
      const reason = isLate ? liveUnreached(thrown) : thrown;
      if (!(reason instanceof Refusal)) return undefined;
      const { status, code, message } = reason;
      const isPassing = isUnreached(reason);
      return { status, body: refusalBody(code, message), retryMs: undefined, isPassing };
    } finally {
      clearTimeout(late);
      broken.abort();
    }
  }

  private async failureOf(response: Response): Promise<Failure> {
    const { status } = response;
    const text = await response.text();
    const retryMs = retryAfterIn(response.headers.get('retry-after'), Date.now());
    const isPassing = status === 429 || status >= 500;
    const isOurs = Boolean(answerIn(text));
    if (isOurs && status !== NO_SUCH_PLACE) return { status, body: text, retryMs, isPassing };
    const { code, message } = isOurs ? NO_LIVE_QUERIES : foreign(response);
    return { status: 503, body: refusalBody(code, message), retryMs, isPassing };
  }

  /** @returns why the hub ended the stream. Undefined if it did not say so */
  private async read(
    events: ReadableStream<Uint8Array>,
    lives: readonly LiveQuery[],
    broken: AbortController,
  ): Promise<Failure | undefined> {
    let ended: Failure | undefined;
    let parts = 0;
    const stop = (): void => broken.abort();
    let silent = setTimeout(stop, SYNC_LIMITS.silenceMs);
    try {
      await readEvents(
        events,
        ({ event, data }) => {
          if (event === 'answer') this.receive(data, lives);
          else if (event === 'ended') {
            const { head, body } = parted(data);
            ended = { status: Number(head), body, retryMs: undefined, isPassing: false };
          }
        },
        () => {
          clearTimeout(silent);
          silent = setTimeout(stop, SYNC_LIMITS.silenceMs);
          // A proxy may cut off every stream after its first part.
          if (++parts === SIGNS_OF_HEALTH) this.failures = 0;
        },
      );
      return ended;
    } finally {
      clearTimeout(silent);
    }
  }

  private receive(data: string, lives: readonly LiveQuery[]): void {
    const { head, body } = parted(data);
    const [number = '', status = '', tag] = head.split(' ');
    const live = lives[Number(number)];
    // The query was removed, or has moved to another stream.
    if (!live || this.ended.signal.aborted || !this.byId.has(live.id)) return;
    live.tag = tag;
    this.failures = 0;
    live.emit(live.id, { status: Number(status), body });
  }
}

/** The stream broke, and no answer has come yet. */
const NO_ANSWER: Failure = {
  status: 503,
  body: refusalBody(
    'hub_unreachable',
    'The hub has accepted the live query, but its answer did not arrive: servers in between must pass on streams.',
  ),
  retryMs: undefined,
  isPassing: true,
};

/** Status of the response of an older hub, which has no live queries. */
const NO_SUCH_PLACE = 404;
const NO_LIVE_QUERIES = {
  code: 'connection_needed',
  message: 'This hub is an earlier version, without live queries. Update it.',
} as const;

/** Separates the first line from the rest. */
function parted(data: string): { readonly head: string; readonly body: string } {
  const end = data.indexOf('\n');
  return { head: data.slice(0, end), body: data.slice(end + 1) };
}
