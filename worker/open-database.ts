/** Everything that one worker needs to serve one database: opened in order, closed in reverse. */
import { BUILD } from '../hosts/build.ts';
import { createClock } from '../hosts/clock.ts';
import type { Engine } from '../src/engine/engine.ts';
import type { WorkerMessage } from '../src/host/api.ts';
import type { OpenOptions } from '../src/host/open.ts';
import type { HttpHost } from '../src/http/message.ts';
import { pause } from './browser/pause.ts';
import { random } from './browser/random.ts';
import { openJobs, type BackgroundJobs } from './opening/background-jobs.ts';
import { findStore, type DatabaseStorage, type FoundStore } from './opening/find-store.ts';
import { followCommits } from './opening/follow-commits.ts';
import { joinTabs, type JoinedTabs, type TabsHandlers } from './opening/join-tabs.ts';
import { openCopy, type OpenCopy } from './opening/open-copy.ts';
import { openEngine, type OpenEngine } from './opening/open-engine.ts';
import { openLogs, type OpenLogs } from './opening/open-logs.ts';
import { LiveQueries } from './queries/live-queries.ts';
import { report } from './queries/replies.ts';
import { holdForLife } from './tabs/web-locks.ts';

export interface OpenContext extends TabsHandlers {
  readonly tell: (message: WorkerMessage) => void;
  /** The browser or another tab took the store away. */
  readonly onClosed: (description: string) => void;
}

export interface OpenDatabase
  extends
    FoundStore,
    OpenCopy,
    Pick<OpenEngine, 'rootSecret'>,
    Pick<OpenLogs, 'log' | 'exports'>,
    Pick<JoinedTabs, 'tabs'> {
  readonly http: HttpHost;
  readonly live: LiveQueries;
  readonly clock: () => number;
  /** Releases everything. No call may be running. */
  readonly close: () => Promise<void>;
}

/** @throws DeletedMeanwhile */
export async function openDatabase(
  storage: DatabaseStorage,
  options: OpenOptions,
  { tell, ...handlers }: OpenContext,
): Promise<OpenDatabase> {
  const { name, settings } = options;
  const clock = createClock();
  const background = reportUntilClosed();
  // None of these three waits for another.
  const finding = findStore(storage, options, handlers.onClosed);
  const alive = holdForLife(options.aliveLock);
  const joined = joinTabs(name, handlers);
  const found = await whenJoined(finding, joined, alive);

  const { isLocked, stored } = found;
  const base = { name, settings, store: stored.store, isLocked, clock, ...background };
  const local = openEngine({ ...base, ...handlers, joined, rootSecret: options.rootSecret });
  const copy = openCopy({ ...base, tell, joined, local, syncSecret: options.syncSecret });
  const logs = openLogs(base);
  const live = openLiveQueries(copy.engine, tell);
  const jobs = openJobs({ ...base, tell, engine: copy.engine });
  followCommits(copy.engine, joined, [live, jobs, copy.sync]);
  if (!isLocked) {
    jobs.start();
    void logs.exports.work();
  }

  const { rootSecret } = local;
  const { log, exports } = logs;
  const http = httpHost(copy.engine, logs, joined, clock);
  const close = () => closeDatabase({ background, joined, local, copy, logs, live, jobs });
  return {
    ...found,
    ...copy,
    rootSecret,
    log,
    exports,
    tabs: joined.tabs,
    http,
    live,
    clock,
    close,
  };
}

interface Parts {
  readonly background: BackgroundReport;
  readonly joined: JoinedTabs;
  readonly local: OpenEngine;
  readonly copy: OpenCopy;
  readonly logs: OpenLogs;
  readonly live: LiveQueries;
  readonly jobs: BackgroundJobs;
}

/** The parts in reverse, except that sync stops before what its last writes would wake. */
async function closeDatabase(parts: Parts): Promise<void> {
  const { background, joined, local, copy, logs, live, jobs } = parts;
  background.stop();
  jobs.close();
  await copy.sync.stop();
  live.close();
  await logs.close();
  await local.close();
  joined.leave();
}

interface BackgroundReport {
  readonly report: (reason: unknown) => void;
  readonly stop: () => void;
}

/** Background work that is cut off by closing has not failed. */
function reportUntilClosed(): BackgroundReport {
  let isClosing = false;
  return {
    report: (reason) => {
      if (!isClosing) report(reason);
    },
    stop: () => {
      isClosing = true;
    },
  };
}

/** Nothing is written before the other tabs know of this one. */
async function whenJoined(
  finding: Promise<FoundStore>,
  joined: JoinedTabs,
  alive: Promise<void>,
): Promise<FoundStore> {
  const ready = Promise.all([joined.ready, alive]);
  try {
    const [found] = await Promise.all([finding, ready]);
    return found;
  } catch (reason) {
    await ready.catch(() => undefined);
    joined.giveUp();
    throw reason;
  }
}

const openLiveQueries = (engine: Engine, tell: (message: WorkerMessage) => void): LiveQueries =>
  new LiveQueries({
    engine,
    tell: (id, answer) => tell({ type: 'answer', id, ...answer }),
    pause,
    now: () => performance.now(),
  });

const httpHost = (
  engine: Engine,
  { log, exports }: OpenLogs,
  { feed }: JoinedTabs,
  clock: () => number,
): HttpHost => ({
  engine,
  build: BUILD,
  clock,
  random,
  report,
  onCommit: (listener) => feed.listen(listener),
  ...(log && { log }),
  exports,
});
