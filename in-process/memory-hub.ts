/** A hub in memory: the engine, the API and the sync of a real hub, without a port. */
import { sha256 } from '@noble/hashes/sha2.js';
import { after } from '../hosts/after.ts';
import { BUILD } from '../hosts/build.ts';
import { elapsed, monotonicClock } from '../hosts/clock.ts';
import { IndexBuilds } from '../hosts/index-builds.ts';
import { passwordChecks } from '../hosts/passwords.ts';
import { answerFiles, FILES_PREFIX } from '../hub/files/answer-files.ts';
import { refusalResponse } from '../hub/http/refusal-response.ts';
import type { RouteCaller } from '../hub/http/route.ts';
import {
  LIVE_PREFIX,
  LiveQueries as HubLiveQueries,
  type LiveQueriesRequest,
} from '../hub/live/live-queries.ts';
import type { TagOf } from '../hub/live/live-stream.ts';
import { answerSync } from '../hub/sync/answer-sync.ts';
import { hexOfBytes } from '../src/codec/hex.ts';
import { utf8Bytes } from '../src/codec/utf8.ts';
import { createEngine, type Engine } from '../src/engine/engine.ts';
import { Refusal } from '../src/errors.ts';
import { handleRequest } from '../src/http/handle.ts';
import type { HttpHost, HttpResponse } from '../src/http/message.ts';
import { HUB_LIMITS, LIMITS, SYNC_LIMITS } from '../src/limits.ts';
import { LogExports } from '../src/logs/exports.ts';
import { QueryLog } from '../src/logs/query-log.ts';
import { createMemoryStore } from '../src/store/memory.ts';
import { createMemoryBlobs } from '../src/sync/hub/files/blob-store.ts';
import { FileHub } from '../src/sync/hub/files/file-hub.ts';
import { prepareEpoch } from '../src/sync/hub/rows/epoch.ts';
import { prepareIdKey } from '../src/sync/hub/rows/id-key.ts';
import { SyncHub } from '../src/sync/hub/sync-hub.ts';
import { createAccessTokens } from '../worker/browser/access-tokens.ts';
import { pause } from '../worker/browser/pause.ts';
import { random } from '../worker/browser/random.ts';
import { readLogFile } from '../worker/host-calls.ts';
import { rootSecretOf } from '../worker/opening/open-engine.ts';
import { LiveQueries } from '../worker/queries/live-queries.ts';
import { QueryRunner } from '../worker/queries/query-runner.ts';
import { report } from '../worker/queries/replies.ts';
import { runCheaply } from './hash-here.ts';
import type { PlainDatabase } from './plain-host.ts';
import { serveAt, unreachable } from './test-network.ts';

const REGION_GROUP = 'local';
const LOG_BYTES = 64 * 1024 * 1024;

/** The caller of every request: requests are not limited here. */
const CALLER: RouteCaller = {
  name: 'anybody',
  admit: () => Promise.resolve(() => undefined),
  hold: () => () => undefined,
};

let lastHub = 0;

export class MemoryHub {
  readonly url: string;
  readonly rootSecret = rootSecretOf(undefined, false);
  readonly engine: Engine;
  private readonly http: HttpHost;
  private readonly exports: LogExports;
  private readonly sync: SyncHub;
  private readonly files: FileHub;
  private readonly live: HubLiveQueries;
  private readonly runner: QueryRunner;
  private readonly builds: IndexBuilds;
  private readonly stopServing: () => void;
  /** Functions that end the open streams. */
  private readonly streams = new Set<() => void>();

  private constructor(store: ReturnType<typeof createMemoryStore>, now: () => number) {
    this.url = `https://hub-${++lastHub}.test`;
    const clock = monotonicClock(now);
    const authentication = {
      random,
      sha256,
      rootSecret: this.rootSecret,
      accessTokens: createAccessTokens(undefined),
    };
    this.engine = createEngine({
      ...authentication,
      store,
      clock,
      elapsed,
      passwords: passwordChecks(LIMITS.hashCostMin, runCheaply),
      hashCost: LIMITS.hashCostMin,
      durability: 'relaxed',
      regionGroup: REGION_GROUP,
      pause,
      logsChanges: true,
    });
    const on = { store, clock, report, random, pause, regionGroup: REGION_GROUP };
    const log = new QueryLog({ ...on, retentionDays: 30, maxBytes: LOG_BYTES });
    this.exports = new LogExports({ ...on, log });
    const { exports, engine } = this;
    this.http = { engine, build: BUILD, clock, random, report, log, exports };
    this.sync = new SyncHub({ ...authentication, engine, clock, pause });
    const blobs = createMemoryBlobs(() => clock() / 1000);
    const { fileBytes } = SYNC_LIMITS;
    this.files = new FileHub({ ...authentication, engine, clock, blobs, fileBytes });
    this.live = new HubLiveQueries({
      http: this.http,
      onCommit: (listener) => engine.onCommit(listener),
      settings: HUB_LIMITS,
      pause,
      turnOf: pause,
      tagOf,
    });
    this.runner = new QueryRunner(this.http);
    this.builds = new IndexBuilds({
      build: (databases) => engine.buildIndexes({ databases }),
      report,
      after,
    });
    engine.onCommit((notice) => this.builds.onCommit(notice));
    this.stopServing = serveAt(this.url, (...request) => this.answer(...request));
  }

  static async open(clock: () => number): Promise<MemoryHub> {
    const store = createMemoryStore();
    await prepareEpoch(store, random);
    await prepareIdKey(store, random);
    return new MemoryHub(store, clock);
  }

  /** The hub's own database, for one page. */
  asDatabase(): PlainDatabase {
    const { http, runner, engine, exports } = this;
    const emitters = new Map<number, Parameters<PlainDatabase['subscribe']>[3]>();
    const live = new LiveQueries({
      engine,
      emit: (id, answer) => emitters.get(id)?.({ type: 'answer', id, ...answer, isFromHub: true }),
      pause,
      now: () => performance.now(),
    });
    const stop = engine.onCommit((notice) => live.onCommit(notice, true));
    return {
      rootSecret: this.rootSecret,
      query: async (call, abortable) => ({
        ...(await runner.run(call, abortable)),
        isFromHub: true,
      }),
      http: async (call) => {
        const answer = await handleRequest(call, http);
        runner.scheduleFlush();
        return answer;
      },
      logFile: (id, version) => readLogFile({ http: { exports } }, id, version),
      verify: () => engine.verify(() => undefined),
      subscribe: (id, secret, query, emit) => {
        emitters.set(id, emit);
        live.add(id, secret, query);
      },
      unsubscribe: (id) => {
        emitters.delete(id);
        live.remove(id);
      },
      leave: () => {
        stop();
        live.close();
      },
    };
  }

  async close(): Promise<void> {
    this.stopServing();
    for (const end of this.streams) end();
    this.builds.close();
    this.sync.close();
    this.runner.close();
    await this.exports.close();
    await this.http.log?.flush();
    await this.engine.close();
  }

  private async answer(path: string, init: RequestInit, signal: AbortSignal) {
    const request = {
      method: init.method ?? 'GET',
      path,
      // The sync code in this process passes plain objects as headers.
      headers: { ...(init.headers as Readonly<Record<string, string>> | undefined) },
      body: typeof init.body === 'string' ? init.body : undefined,
      signal,
      address: '',
    };
    const answering = this.answerAt(path, request, init).catch((reason: unknown) => {
      if (reason instanceof Refusal) return refusalResponse(request, reason, this.http);
      throw reason;
    });
    const { status, headers, body, bytes } = await answering;
    const isStream = typeof body !== 'string';
    const content = isStream ? this.streamOf(body, signal) : ((bytes ?? body) as BodyInit);
    // An empty string is a body too, which responses with some statuses must not have.
    const given = content === '' ? null : content;
    return { response: new Response(given, { status, headers: { ...headers } }), isStream };
  }

  private async answerAt(
    path: string,
    request: LiveQueriesRequest,
    { body }: RequestInit,
  ): Promise<HttpResponse> {
    if (path.startsWith('/sync/'))
      return answerSync(request, { sync: this.sync, heartbeatMs: SYNC_LIMITS.heartbeatMs });
    if (path.startsWith(LIVE_PREFIX)) return this.live.open(request, CALLER);
    if (!path.startsWith(FILES_PREFIX)) return handleRequest(request, this.http);
    const bytes = typeof body === 'string' ? utf8Bytes(body) : body;
    return answerFiles({ ...request, bytes: bytes as Uint8Array | undefined }, this.files);
  }

  /** The stream fails when the signal is aborted, and ends when the hub is closed. */
  private streamOf(
    body: Exclude<HttpResponse['body'], string>,
    signal: AbortSignal,
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    const parts = body[Symbol.asyncIterator]();
    let isOpen = true;
    const end = (): void => {
      isOpen = false;
      this.streams.delete(end);
      void parts.return?.();
    };
    this.streams.add(end);
    return new ReadableStream({
      start: (stream) =>
        signal.addEventListener('abort', () => {
          if (isOpen) stream.error(unreachable());
          end();
        }),
      pull: async (stream) => {
        const { done, value } = await parts.next();
        if (signal.aborted) return;
        if (!done)
          stream.enqueue(typeof value === 'string' ? utf8Bytes(value) : new Uint8Array(value));
        else {
          end();
          stream.close();
        }
      },
      cancel: end,
    });
  }
}

const tagOf: TagOf = async (status, parts) => {
  const hash = sha256.create().update(utf8Bytes(`${status} `));
  for (const part of parts) hash.update(typeof part === 'string' ? utf8Bytes(part) : part);
  return hexOfBytes(hash.digest());
};
