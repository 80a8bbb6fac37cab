/** `POST /live/`: live queries whose answers are sent as server-sent events. Does not depend on Node. */
import { membersOf, tryJson } from '../../src/codec/plain-json.ts';
import type { CommitNotice } from '../../src/engine/host.ts';
import { Refusal } from '../../src/errors.ts';
import { secretOf } from '../../src/http/authorization.ts';
import type { HttpHost, HttpResponse } from '../../src/http/message.ts';
import { HeaderFault, readHeaders, type RequestOptions } from '../../src/http/request-headers.ts';
import { traceparentOf } from '../../src/http/trace-context.ts';
import { ConcurrencyLimits } from '../admission/concurrency-limits.ts';
import { Counts } from '../admission/token-buckets.ts';
import type { HubRequest, RouteCaller } from '../http/route.ts';
import type { HubSettings } from '../settings/settings.ts';
import { LiveFeed } from './live-feed.ts';
import { LiveStream, type LiveRequest, type TagOf } from './live-stream.ts';

export const LIVE_PREFIX = '/live/';
const NOTHING = (): void => undefined;
const EVENT_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } as const;

export interface LiveQueriesOptions {
  readonly http: HttpHost;
  readonly onCommit: (listener: (notice: CommitNotice) => void) => unknown;
  readonly settings: Pick<HubSettings, Extract<keyof HubSettings, `live${string}`>>;
  /** Gives the event loop a turn. */
  readonly pause: () => Promise<void>;
  /** Resolves when a query of this name may begin; undefined if it may begin now. */
  readonly turnOf: (name: string) => Promise<void> | undefined;
  readonly tagOf: TagOf;
}

export type LiveQueriesRequest = Omit<HubRequest, 'base' | 'bytes'>;

export class LiveQueries {
  private readonly options: LiveQueriesOptions;
  private readonly feed: LiveFeed;
  private readonly lanes: ConcurrencyLimits;
  private readonly byCredential = new Counts();
  private readonly byAddress = new Counts();
  private readonly chars = new Counts();

  constructor(options: LiveQueriesOptions) {
    const { http, onCommit, settings, pause } = options;
    this.options = options;
    this.feed = new LiveFeed({
      pause,
      keysMax: settings.liveChangedKeys,
      report: (reason) => http.report?.(reason),
    });
    this.lanes = new ConcurrencyLimits(settings.liveRunsPerCredential, Infinity);
    onCommit((notice) => this.feed.onCommit(notice));
  }

  get count(): number {
    return this.feed.size;
  }

  /** @throws Refusal */
  async open(request: LiveQueriesRequest, caller: RouteCaller): Promise<HttpResponse> {
    const { feed } = this;
    const { http, settings, tagOf } = this.options;
    const [path = ''] = request.path.split('?', 1);
    if (path !== LIVE_PREFIX) throw new Refusal('not found', `There is nothing at ${path}.`);
    if (request.method !== 'POST')
      throw new Refusal('method not allowed', `${LIVE_PREFIX} takes POST, not ${request.method}.`);
    const options = optionsOf(request);
    const secret = secretOf(request.headers['authorization']);
    if (secret === undefined || !(await http.engine.authenticate(secret)))
      throw new Refusal('unauthorized', 'Unauthorized');
    const text = request.body ?? '';
    if (text.length > settings.liveCharsPerCredential)
      throw new Refusal(
        'request too large',
        `The live queries have more than ${settings.liveCharsPerCredential} characters.`,
      );
    const queries = queriesIn(text);
    const release = this.hold(request, caller, queries.length, text.length);
    const traceparent = traceparentOf(request.headers['traceparent'], http.random);
    let stop = NOTHING;
    const stream = new LiveStream({
      call: { request: withoutBody(request), host: http, options, secret, path, traceparent },
      caller,
      queries,
      heartbeatMs: settings.liveHeartbeatMs,
      factsMax: settings.liveFacts,
      enter: (name) => this.enter(name),
      tagOf,
      onClose: () => {
        stop();
        release();
      },
    });
    // The stream follows commits before it runs a query, so that no commit in between is missed.
    stop = feed.add(stream);
    return { status: 200, headers: EVENT_HEADERS, body: stream };
  }

  /** Queries of many streams are begun over several turns of the event loop. */
  private async enter(name: string): Promise<() => void> {
    // These lanes let any number of queries wait, so entering is never refused.
    const leave = (await this.lanes.enter(name)) ?? NOTHING;
    await this.options.turnOf(name);
    return leave;
  }

  /** Counts the live queries until the returned function is called. @throws Refusal */
  private hold(
    { address }: LiveQueriesRequest,
    { name }: RouteCaller,
    queries: number,
    chars: number,
  ): () => void {
    const { byCredential, byAddress } = this;
    const { settings } = this.options;
    const { liveQueries, liveQueriesPerCredential, liveQueriesPerAddress } = settings;
    const isTooMany =
      byCredential.total + queries > liveQueries ||
      byCredential.of(name) + queries > liveQueriesPerCredential ||
      byAddress.of(address) + queries > liveQueriesPerAddress ||
      this.chars.of(name) + chars > settings.liveCharsPerCredential;
    if (isTooMany)
      throw new Refusal(
        'too many requests',
        `At most ${liveQueriesPerCredential} live queries of one credential can be open at once, ${liveQueriesPerAddress} of one address and ${liveQueries} in total. End one first.`,
      );
    const holds = [
      byCredential.hold(name, queries),
      byAddress.hold(address, queries),
      this.chars.hold(name, chars),
    ];
    return () => {
      for (const release of holds) release();
    };
  }
}

/** @throws Refusal */
function optionsOf(request: LiveQueriesRequest): RequestOptions {
  try {
    return readHeaders(request);
  } catch (reason) {
    throw reason instanceof HeaderFault ? new Refusal('bad request', reason.message) : reason;
  }
}

/** The request is kept for as long as the stream is open, and its body is not needed any more. */
const withoutBody = (request: LiveQueriesRequest): LiveQueriesRequest => ({
  method: request.method,
  path: request.path,
  headers: request.headers,
  body: undefined,
  address: request.address,
  signal: request.signal,
});

/** @throws Refusal */
function queriesIn(text: string): readonly LiveRequest[] {
  const { queries } = membersOf(tryJson(text));
  if (!Array.isArray(queries) || queries.length === 0) throw malformed();
  return queries.map((each: unknown) => {
    const { query, told } = membersOf(each);
    if (typeof query !== 'string' || (told !== undefined && typeof told !== 'string'))
      throw malformed();
    return { query, told };
  });
}

const malformed = (): Refusal =>
  new Refusal('bad request', 'The body must be {"queries":[{"query":"…"}, …]}.');
