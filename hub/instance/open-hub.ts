/** An engine over a store, with what a server needs beside it: logs, exports, password threads, background jobs. */
import { createHmac, randomBytes } from 'node:crypto';
import { after } from '../../hosts/after.ts';
import { BUILD } from '../../hosts/build.ts';
import { IndexBuilds } from '../../hosts/index-builds.ts';
import { SweepSchedule } from '../../hosts/sweep-schedule.ts';
import type { CommitNotice, Line } from '../../src/engine/host.ts';
import { longTextReader } from '../../src/engine/session.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { hashOfRootSecret } from '../../src/engine/access.ts';
import type { HttpHost } from '../../src/http/message.ts';
import { SYNC_LIMITS } from '../../src/limits.ts';
import { LogExports } from '../../src/logs/exports.ts';
import { QueryLog } from '../../src/logs/query-log.ts';
import type { Store } from '../../src/store/port.ts';
import type { TextParts } from '../evaluators/text-parts.ts';
import type { LongPushes } from '../../src/sync/hub/push/offered-write.ts';
import type { PruneHost } from '../../src/sync/hub/pruning/prune-batch.ts';
import { pruneChanges } from '../../src/sync/hub/pruning/prune-changes.ts';
import { pruneDevices } from '../../src/sync/hub/pruning/prune-devices.ts';
import { pruneDeletedDatabases } from '../../src/sync/hub/pruning/prune-deleted-databases.ts';
import { DAY_MICROS } from '../../src/values/time.ts';
import { PasswordPool } from '../passwords/password-pool.ts';
import type { HubSettings } from '../settings/settings.ts';
import { prepareHubRows } from '../store/hub-rows.ts';
import type { HubStore } from '../store/open-store.ts';
import type { HeldBackCount } from '../monitoring/held-back.ts';
import type { LongQueryCounts } from '../monitoring/metrics.ts';
import { EvaluatorPool, type Evaluator } from '../evaluators/evaluator-pool.ts';
import type { LongRead, ReadAnswer } from '../evaluators/messages.ts';
import { startEvaluator } from './start-evaluator.ts';
import {
  createHubEngine,
  engineSettings,
  hubClock,
  pause,
  sha256,
  type HubEngine,
} from './hub-engine.ts';

/** What `openHubStore()` opens, or a test in its place. */
export type HubStorage = Pick<HubStore, 'store' | 'lease' | 'onOtherCommit' | 'close'> &
  Partial<Pick<HubStore, 'roundTrips' | 'lend'>>;

export interface OpenedHub {
  readonly store: Store;
  readonly engine: Engine;
  /** For `handleRequest()` and routes of the hub. */
  readonly http: HttpHost;
  /** 32 hex digits: new after each restore. */
  readonly epoch: string;
  /** When its data were loaded from a dump, ms since 1970; 0 if they were not. */
  readonly restoredMs: number;
  readonly authentication: HubEngine['authentication'];
  readonly onCommit: CommitFeed['listen'];
  /** Only if it was generated just now: the store keeps a hash, so it cannot be shown again. */
  readonly newRootSecret: string | undefined;
  /** The URL at which it listens: its public one, unless the settings name another. */
  readonly setUrl: (url: string) => void;
  readonly passwordsWaiting: () => number;
  readonly longQueries: () => LongQueryCounts;
  /** Where a request waits that is not read yet. @param secret not checked yet */
  readonly lineOf: (secret: string | undefined, address: string) => Line;
  /** Of the databases whose queries waited most for those of others. */
  readonly waitedMost: (count: number) => readonly HeldBackCount[];
  /** To the database, since start. */
  readonly roundTrips: () => number;
  /** Time of the last commit, by whichever process, in µs. */
  readonly lastCommit: () => number;
  /** Executes pushes that take long; undefined without threads for them. */
  readonly longPushes: HubPushes | undefined;
  /** Executes pulls and checks that would hold up others; undefined likewise. */
  readonly longReads: LongReads | undefined;
  /** Refuses long queries that wait. @param ms those that run may go on for so long */
  endLongQueries(ms: number): Promise<void>;
  /** Releases everything. Nothing may be in flight. */
  close(): Promise<void>;
}

const FLUSH_MS = 2000;
/** What comes from the database in one piece is read in one piece: some 5 ms. */
const FETCH_BYTES = 512 * 1024;
/** Of a folder, to which a commit takes little: a server is better used by larger groups. */
const GROUP_MICROS = 3_000;

export async function openHub(
  storage: HubStorage,
  settings: HubSettings,
  report: (reason: unknown) => void,
): Promise<OpenedHub> {
  const { store } = storage;
  const root = chooseRootSecret(settings.rootSecret);
  const rows = await prepareHubRows(store, root.hashFor);
  const pool = openPasswords(settings, report);
  const { passwords } = pool;
  const started = startEngine(storage, settings, { rootHash: rows.rootHash, passwords, report });
  const { engine, evaluators, clock, random, authentication, setUrl } = started;
  let isClosing = false;
  /** Background work that is cut off by closing has not failed. */
  const reportWork = (reason: unknown): void => {
    if (!isClosing) report(reason);
  };
  const logs = openLogs(store, settings, { clock, random, report: reportWork }, rows.urlKey);
  const commits = openCommitFeed(engine, storage);
  const jobs = startBackgroundJobs(engine, { logs, clock, report: reportWork });
  commits.listen((notice) => jobs.onCommit(notice));
  if (evaluators) commits.listen((notice) => evaluators.onCommit(notice));
  return {
    store,
    engine,
    epoch: rows.epoch,
    restoredMs: rows.restoredMs,
    authentication,
    onCommit: commits.listen,
    newRootSecret: root.generated(),
    setUrl,
    passwordsWaiting: () => pool.waitingCount,
    ...longQueriesOf(evaluators),
    roundTrips: () => storage.roundTrips?.() ?? 0,
    lastCommit: watchLastCommit(engine, commits, reportWork),
    http: {
      engine,
      clock,
      random,
      pause,
      report,
      build: BUILD,
      onCommit: commits.listen,
      queryTime: { defaultMs: settings.queryTimeoutDefaultMs, maxMs: settings.queryTimeoutMaxMs },
      ...(logs.log && { log: logs.log }),
      exports: logs.exports,
    },
    async close() {
      isClosing = true;
      await evaluators?.close();
      commits.close();
      jobs.close();
      await logs.close();
      await pool.close();
      await engine.close();
      await storage.close();
    },
  };
}

const openPasswords = (
  { hashCost, passwordThreads, passwordsWaiting }: HubSettings,
  report: (reason: unknown) => void,
): PasswordPool =>
  new PasswordPool({ hashCost, threads: passwordThreads, waitingMax: passwordsWaiting, report });

/** The engine of the main thread, and the threads for long queries, which have engines of their own. */
function startEngine(
  storage: HubStorage,
  settings: HubSettings,
  parts: {
    readonly rootHash: string | undefined;
    readonly passwords: PasswordPool['passwords'];
    readonly report: (reason: unknown) => void;
  },
) {
  const { rootHash, passwords, report } = parts;
  const { store, lease } = storage;
  let url = settings.publicUrl;
  const evaluators = openEvaluators(storage, settings, {
    report,
    start: (lend) =>
      startEvaluator({ settings: engineSettings(settings), url, rootHash }, lend(), report),
  });
  const created = createHubEngine(settings, {
    url: () => url,
    rootHash,
    store,
    passwords,
    readLong: longTextReader(pause),
    longQueries: evaluators,
    ...(evaluators && { fetchBytes: FETCH_BYTES }),
    ...(lease && { lease, groupMicros: GROUP_MICROS }),
  });
  const setUrl = (own: string): void => void (url ??= own);
  return { ...created, evaluators, setUrl };
}

type LongQueriesOfHub = Pick<
  OpenedHub,
  'longQueries' | 'lineOf' | 'waitedMost' | 'longPushes' | 'longReads' | 'endLongQueries'
>;

/** @param evaluators undefined: all queries are executed in the main thread, however long they take */
const longQueriesOf = (evaluators: EvaluatorPool | undefined): LongQueriesOfHub => ({
  longQueries: () => evaluators?.counts ?? NO_QUERIES,
  lineOf: (secret, address) =>
    evaluators?.lineOf({ secret, address }) ?? { name: address, group: address },
  waitedMost: (count) => evaluators?.waitedMost(count) ?? [],
  longPushes: evaluators && pushesBy(evaluators),
  longReads: evaluators && readsBy(evaluators),
  endLongQueries: async (ms) => evaluators?.close(ms),
});

export interface HubPushes extends LongPushes {
  /** Of a message that is not read yet. @throws Refusal */
  executeParts(secret: string, parts: TextParts): ReturnType<LongPushes['execute']>;
}

const pushesBy = (evaluators: EvaluatorPool): HubPushes => ({
  turnMs: (secret) => evaluators.turnMs({ secret }),
  lineOf: (secret) => evaluators.lineOf({ secret }),
  execute: (secret, message) => evaluators.push({ secret, message }),
  executeParts: (secret, parts) => evaluators.push({ secret, parts }),
});

export interface LongReads {
  /** @param isLong as far as its message tells */
  takes(secret: string, isLong: boolean): boolean;
  /** One that was made by the thread that answers. */
  recordTime(secret: string, ms: number): void;
  /** @throws Refusal */
  execute(read: LongRead): Promise<ReadAnswer>;
}

const readsBy = (evaluators: EvaluatorPool): LongReads => ({
  takes: (secret, isLong) => evaluators.holdsUpOthers({ secret }, isLong),
  recordTime: (secret, ms) => evaluators.recordTime({ secret }, ms),
  execute: (read) => evaluators.read(read),
});

const NO_QUERIES: LongQueryCounts = { running: 0, waiting: 0, threadsStarted: 0, threadsLost: 0 };

function openEvaluators(
  { lend }: HubStorage,
  { queryThreads: threads, longQueriesWaiting: waitingMax }: HubSettings,
  host: {
    readonly start: (lend: HubStore['lend']) => Evaluator;
    readonly report: (reason: unknown) => void;
  },
): EvaluatorPool | undefined {
  if (threads === 0 || !lend) return undefined;
  const { report } = host;
  const start = (): Evaluator => host.start(lend);
  return new EvaluatorPool({ threads, waitingMax, clock: hubClock(), start, report });
}

/** The one given replaces the stored one. If there is neither, one is generated. */
function chooseRootSecret(given: string | undefined) {
  let generated: string | undefined;
  return {
    /** Asked again where another hub may have stored one meanwhile. */
    hashFor: (stored: string | undefined): string => {
      generated = undefined;
      if (given !== undefined) return hashOfRootSecret(given, sha256);
      if (stored !== undefined) return stored;
      generated = `burrow-root-${randomBytes(30).toString('base64url')}`;
      return hashOfRootSecret(generated, sha256);
    },
    generated: () => generated,
  };
}

interface Logs {
  readonly log: QueryLog | undefined;
  readonly exports: LogExports;
  /** Removes what is older than it may be, also of the time when queries were recorded. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

function openLogs(
  store: Store,
  { queryLog, queryLogDays, queryLogBytes, regionGroup }: HubSettings,
  host: Pick<HttpHost, 'clock' | 'random'> & { readonly report: (reason: unknown) => void },
  urlKey: string,
): Logs {
  const on = { ...host, pause, store };
  const recorded = new QueryLog({ ...on, retentionDays: queryLogDays, maxBytes: queryLogBytes });
  const exports = new LogExports({
    ...on,
    regionGroup,
    // With the query log off, what was recorded before can still be exported.
    log: recorded,
    sign: (text) => createHmac('sha256', urlKey).update(text).digest('base64url'),
  });
  const flushing = setInterval(() => void recorded.flush(), FLUSH_MS).unref();
  void exports.work();
  return {
    log: queryLog ? recorded : undefined,
    exports,
    async sweep() {
      await recorded.trim();
      await exports.work();
    },
    async close() {
      clearInterval(flushing);
      await exports.close();
      await recorded.flush();
    },
  };
}

interface CommitFeed {
  /** Hears commits of this process and of others on the same data. Returns the way to stop. */
  readonly listen: (listener: (notice: CommitNotice) => void) => () => void;
  close(): void;
}

function openCommitFeed(engine: Engine, storage: HubStorage): CommitFeed {
  const listeners = new Set<(notice: CommitNotice) => void>();
  const emit = (notice: CommitNotice): void => {
    for (const listener of listeners) listener(notice);
  };
  const stops = [
    engine.onCommit(emit),
    storage.onOtherCommit((notice) => {
      engine.applyCommit(notice);
      emit(notice);
    }),
  ];
  return {
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => {
      for (const stop of stops) stop();
      listeners.clear();
    },
  };
}

function watchLastCommit(
  { transactions }: Engine,
  commits: CommitFeed,
  report: (reason: unknown) => void,
): () => number {
  let last = 0;
  const advance = (ts: number): void => void (last = Math.max(last, ts));
  commits.listen(({ ts }) => advance(ts));
  transactions.read(({ head }) => ({ value: head })).then(({ value }) => advance(value), report);
  return () => last;
}

/** Several processes on one store may do the same work: that costs time and does no harm. */
function startBackgroundJobs(
  engine: Engine,
  {
    logs,
    clock,
    report,
  }: {
    readonly logs: Logs;
    readonly clock: () => number;
    readonly report: (reason: unknown) => void;
  },
) {
  const { transactions } = engine;
  const builds = new IndexBuilds({ build: () => engine.buildIndexes(), report, after });
  let devicesPrunedAt = 0;
  /** It looks at each device. */
  const pruneDevicesDaily = async (host: PruneHost): Promise<void> => {
    const now = host.clock();
    if (now - devicesPrunedAt < DAY_MICROS) return;
    await pruneDevices(host, now - SYNC_LIMITS.devicesKeptMicros);
    devicesPrunedAt = now;
  };
  const sweeps = new SweepSchedule({
    async sweep() {
      await engine.collectExpiredData();
      // As with expired data: a clock that is years ahead removes nothing by itself, and does not move the head there.
      const { value: last } = await transactions.read(({ head }) => ({ value: head }));
      const host = { transactions, clock: () => Math.min(clock(), last) };
      await pruneChanges(host, host.clock() - SYNC_LIMITS.changesKeptMicros);
      await pruneDeletedDatabases(host);
      await pruneDevicesDaily(host);
      await logs.sweep();
    },
    after,
    report,
  });
  builds.start();
  return {
    onCommit(notice: CommitNotice) {
      builds.onCommit(notice);
      sweeps.onCommit(notice);
    },
    close() {
      builds.close();
      sweeps.close();
    },
  };
}
