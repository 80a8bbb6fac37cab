/** `POST /live/`: live queries, whose answers come as server-sent events. */
import { assert, Refusal } from '../../src/errors.ts';
import { HUB_LIMITS } from '../../src/limits.ts';
import { secretOf } from '../../src/http/authorization.ts';
import type { HttpResponse } from '../../src/http/message.ts';
import { HeaderFault, readHeaders, type RequestOptions } from '../../src/http/request-headers.ts';
import { traceparentOf } from '../../src/http/trace-context.ts';
import { Lanes } from '../admission/lanes.ts';
import { Counts } from '../admission/token-buckets.ts';
import { LoopTurns } from '../event-loop/loop-turns.ts';
import type { HubRequest, HubRoute, RouteCaller } from '../http/route.ts';
import type { OpenedHub } from '../instance/open-hub.ts';
import { pause } from '../instance/hub-engine.ts';
import type { HubSettings } from '../settings/settings.ts';
import { LiveFeed } from './live-feed.ts';
import { LiveStream, type LiveRequest } from './live-stream.ts';

const PREFIX = '/live/';
const EVENT_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } as const;

export function createLiveRoute(
  hub: Pick<OpenedHub, 'http' | 'onCommit'>,
  settings: HubSettings,
): HubRoute {
  const live = new LiveQueries(hub, settings);
  return {
    prefix: PREFIX,
    bodyBytes: () => HUB_LIMITS.messageBytes,
    handle: (request, caller) => live.open(request, caller),
    liveQueries: () => live.count,
  };
}

class LiveQueries {
  private readonly http: OpenedHub['http'];
  private readonly settings: HubSettings;
  private readonly feed: LiveFeed;
  private readonly turns = new LoopTurns();
  private readonly lanes: Lanes;
  private readonly byCredential = new Counts();
  private readonly byAddress = new Counts();
  private readonly chars = new Counts();

  constructor({ http, onCommit }: Pick<OpenedHub, 'http' | 'onCommit'>, settings: HubSettings) {
    this.http = http;
    this.settings = settings;
    this.feed = new LiveFeed({
      pause,
      keysMax: settings.liveChangedKeys,
      report: (reason) => http.report?.(reason),
    });
    this.lanes = new Lanes(settings.liveRunsPerCredential, Infinity);
    onCommit((notice) => this.feed.noteCommit(notice));
  }

  get count(): number {
    return this.feed.size;
  }

  /** @throws Refusal */
  async open(request: HubRequest, caller: RouteCaller): Promise<HttpResponse> {
    const { http, settings, feed } = this;
    const [path = ''] = request.path.split('?', 1);
    if (path !== PREFIX) throw new Refusal('not found', `There is nothing at ${path}.`);
    if (request.method !== 'POST')
      throw new Refusal('method not allowed', `${PREFIX} takes POST, not ${request.method}.`);
    const options = optionsOf(request);
    const secret = secretOf(request.headers['authorization']);
    if (secret === undefined || !(await http.engine.authenticate(secret)))
      throw new Refusal('unauthorized', 'Unauthorized');
    const text = request.body ?? '';
    if (text.length > settings.liveCharsPerCredential)
      throw new Refusal('request too large', 'The live queries are too long.');
    const queries = queriesIn(text);
    const release = this.hold(request, caller, queries.length, text.length);
    const traceparent = traceparentOf(request.headers['traceparent'], http.random);
    let stop = (): void => undefined;
    const stream = new LiveStream({
      call: { request: withoutBody(request), host: http, options, secret, path, traceparent },
      caller,
      queries,
      heartbeatMs: settings.liveHeartbeatMs,
      factsMax: settings.liveFacts,
      enter: (name) => this.enter(name),
      pause,
      nowMs: () => performance.now(),
      onClose: () => {
        stop();
        release();
      },
    });
    // It hears of commits before it runs a query, so that none in between is missed.
    stop = feed.add(stream);
    return { status: 200, headers: EVENT_HEADERS, body: stream };
  }

  /** Queries of many streams are begun over several turns of the event loop. */
  private async enter(name: string): Promise<() => void> {
    const leave = await this.lanes.enter(name);
    assert(leave !== undefined, () => 'any number may wait');
    await this.turns.enter(name);
    return leave;
  }

  /** Counts them until the returned function is called. @throws Refusal */
  private hold(
    { address }: HubRequest,
    { name }: RouteCaller,
    queries: number,
    chars: number,
  ): () => void {
    const { settings, byCredential, byAddress } = this;
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
function optionsOf(request: HubRequest): RequestOptions {
  try {
    return readHeaders(request);
  } catch (reason) {
    throw reason instanceof HeaderFault ? new Refusal('bad request', reason.message) : reason;
  }
}

/** It is kept for as long as the stream is open, and its text is not needed any more. */
const withoutBody = (request: HubRequest): HubRequest => ({
  method: request.method,
  path: request.path,
  headers: request.headers,
  body: undefined,
  address: request.address,
  base: request.base,
  signal: request.signal,
});

/** @throws Refusal */
function queriesIn(text: string): readonly LiveRequest[] {
  const queries: unknown = member(parsed(text), 'queries');
  if (!Array.isArray(queries) || queries.length === 0) throw malformed();
  return queries.map((each: unknown) => {
    const query = member(each, 'query');
    const told = member(each, 'told');
    if (typeof query !== 'string' || (told !== undefined && typeof told !== 'string'))
      throw malformed();
    return { query, told };
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed();
  }
}

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const malformed = (): Refusal =>
  new Refusal('bad request', 'The body must be {"queries":[{"query":"…"}, …]}.');
