/** Everything that one worker needs to serve one database: opened in order, closed in reverse. */
import { sha256 } from '@noble/hashes/sha2.js';
import { BUILD } from '../hosts/build.ts';
import { createClock } from '../hosts/clock.ts';
import { hashOfRootSecret } from '../src/engine/access.ts';
import type { Engine } from '../src/engine/engine.ts';
import type { WorkerMessage } from '../src/host/api.ts';
import type { OpenOptions } from '../src/host/open.ts';
import type { HttpHost } from '../src/http/message.ts';
import { pause } from './browser/pause.ts';
import { QueryWatch } from './diagnostics/query-watch.ts';
import { random } from './browser/random.ts';
import { openJobs } from './opening/background-jobs.ts';
import { findStore, type DatabaseStorage, type FoundStore } from './opening/find-store.ts';
import { followCommits } from './opening/follow-commits.ts';
import { joinTabs, type JoinedTabs, type TabsHandlers } from './opening/join-tabs.ts';
import { openCopy, type OpenCopy } from './opening/open-copy.ts';
import { openEngine, rootSecretOf } from './opening/open-engine.ts';
import { openLogs, type OpenLogs } from './opening/open-logs.ts';
import { beginWarmUp } from './opening/warm-up.ts';
import { startEvaluator } from './queries/evaluator-messages.ts';
import { LiveQueries } from './queries/live-queries.ts';
import { SecondWorkerQueries, type LongQueriesOptions } from './queries/long-queries.ts';
import { report } from './queries/replies.ts';
import { LiveRouter } from './sync/live-router.ts';
import { holdUntil } from './tabs/web-locks.ts';

export interface OpenContext extends TabsHandlers {
  readonly emit: (message: WorkerMessage) => void;
  /** The browser or another tab has closed or deleted the store. */
  readonly onClosed: (description: string) => void;
}

export interface OpenDatabase extends FoundStore, OpenCopy, Pick<JoinedTabs, 'tabs'> {
  readonly rootSecret: string;
  readonly http: HttpHost;
  readonly live: LiveQueries;
  readonly liveRouter: LiveRouter;
  readonly watch: QueryWatch;
  /** Ends long queries in the second worker, both running and waiting ones. */
  readonly endLongQueries: () => void;
  /** Releases everything. No call may be running. */
  readonly close: () => Promise<void>;
}

/** @returns undefined when the database that the page had open before was deleted */
export async function openDatabase(
  storage: DatabaseStorage,
  options: OpenOptions,
  context: OpenContext,
): Promise<OpenDatabase | undefined> {
  const { emit, ...handlers } = context;
  const { name, settings } = options;
  const { clock = createClock(), isShared } = storage;
  let isClosing = false;
  /** Errors of background work are not reported once closing has begun: closing interrupts that work. */
  const reportWork = (reason: unknown): void => {
    if (!isClosing) report(reason);
  };
  const joined = joinTabs(name, handlers, isShared);
  const found = await findAmongTabs(storage, options, context, joined);
  if (!found) return undefined;

  const { isLocked, stored } = found;
  const { locks } = joined;
  const base = { name, locks, settings, store: stored.store, isLocked, clock, report: reportWork };
  const rootSecret = rootSecretOf(options.rootSecret, isLocked);
  // A service worker cannot start workers, so it has no second worker for long queries.
  const isOfPage = !isLocked && isShared && typeof Worker !== 'undefined';
  const beside = isOfPage
    ? queriesBeside(options, stored.birth, rootSecret, {
        executeHere: (request, isSynced) =>
          isSynced ? copy.read(request) : local.inlineEngine.query(request),
      })
    : undefined;
  const local = openEngine({
    ...storage,
    ...base,
    ...handlers,
    joined,
    rootSecret,
    longQueries: beside,
  });
  const copy = openCopy({
    ...storage,
    ...base,
    emit: (message) => {
      emit(message);
      if (message.type === 'sync-state') liveRouter.onContact();
    },
    joined,
    local,
    syncSecret: options.syncSecret,
    longQueries: beside?.ofCopy,
  });
  const logs = openLogs(base);
  const { live, liveRouter } = openLive(copy, emit);
  const jobs = openJobs({
    ...base,
    emit,
    engine: copy.engine,
    files: copy.sync.files,
    logs,
  });
  followCommits(copy.engine, joined, [live, jobs, copy.sync]);
  if (!isLocked) jobs.start();
  const stopWarmUp = isOfPage
    ? beginWarmUp({ engine: local.inlineEngine, rootSecret, report: reportWork })
    : undefined;

  const watch = new QueryWatch(logs.log, clock);
  const http = httpHost(copy.engine, logs, { ...joined, watch }, clock);
  const endLongQueries = (): void => beside?.close();
  const close = async () => {
    isClosing = true;
    stopWarmUp?.();
    jobs.close();
    endLongQueries();
    await copy.sync.stop();
    copy.sync.files.close();
    liveRouter.close();
    live.close();
    await logs.close();
    await local.close();
    joined.leave();
    // Last, because Chromium blocks the worker for ever here, even when it is terminated, if the data of the site was cleared. An open
    // connection of such a worker would block the database until the browser is restarted.
    await copy.sync.secondCopy.close();
  };
  return {
    ...found,
    ...copy,
    rootSecret,
    tabs: joined.tabs,
    http,
    live,
    liveRouter,
    watch,
    endLongQueries,
    close,
  };
}

/** Opens the store and joins the other tabs. Nothing is written before the other tabs know of this one. */
async function findAmongTabs(
  storage: DatabaseStorage,
  options: OpenOptions,
  { emit, onClosed }: OpenContext,
  joined: JoinedTabs,
): Promise<FoundStore | undefined> {
  // Opening the store and joining the tabs run in parallel.
  const finding = findStore(storage, options, {
    onClosed,
    leaseTerm: () => joined.lease?.term(),
    onMove: (progress) => emit({ type: 'progress', task: 'move', name: undefined, ...progress }),
    onMoveFailed: report,
  });
  const ready = Promise.all([joined.ready, holdUntil(storage.ended, options.aliveLock)]);
  let found: FoundStore | undefined;
  try {
    [found] = await Promise.all([finding, ready]);
  } finally {
    // If the locks fail too, their error is thrown: where the browser denies storage to a page, Web Locks always say so, IndexedDB not
    // always.
    if (!found) await ready.finally(() => joined.leave());
  }
  return found;
}

const queriesBeside = (
  { name, settings, aliveLock }: OpenOptions,
  birth: string,
  rootSecret: string,
  here: Pick<LongQueriesOptions, 'executeHere'>,
): SecondWorkerQueries =>
  new SecondWorkerQueries({
    start: startEvaluator,
    evaluator: () => ({
      name,
      settings,
      birth,
      aliveLock,
      rootHash: hashOfRootSecret(rootSecret, sha256),
    }),
    ...here,
  });

/** The live queries, and the router that decides whether each is answered here or by the hub. */
function openLive(
  { engine, sync }: OpenCopy,
  emit: OpenContext['emit'],
): Pick<OpenDatabase, 'live' | 'liveRouter'> {
  const live = new LiveQueries({
    engine,
    emit: (id, answer) => liveRouter.onAnswer(id, answer),
    pause,
    now: () => performance.now(),
  });
  const liveRouter = new LiveRouter({
    sync,
    local: live,
    emit: (id, answer) => emit({ type: 'answer', id, ...answer }),
  });
  return { live, liveRouter };
}

const httpHost = (
  engine: Engine,
  { exports }: OpenLogs,
  { feed, watch }: Pick<JoinedTabs, 'feed'> & { readonly watch: QueryWatch },
  clock: () => number,
): HttpHost => ({
  engine,
  build: BUILD,
  clock,
  random,
  report,
  onCommit: (listener) => feed.listen(listener),
  get log() {
    return watch.log;
  },
  exports,
});
