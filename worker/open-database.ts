/** Puts together what one worker needs to serve one database. */
import { hexOfBytes } from '../src/codec/hex.ts';
import { sha256 } from '@noble/hashes/sha2.js';
import type { CommitNotice } from '../src/engine/host.ts';
import type { Engine } from '../src/engine/engine.ts';
import { createEngine } from '../src/engine/engine.ts';
import { createReplica } from '../src/sync/device/replica/stored-replica.ts';
import { ReplicaView } from '../src/sync/device/view/replica-view.ts';
import type { WorkerMessage } from '../src/host/api.ts';
import type { OpenOptions } from '../src/host/open.ts';
import type { HttpHost } from '../src/http/message.ts';
import type { GzipStream } from '../src/logs/export-file.ts';
import { LogExports } from '../src/logs/exports.ts';
import { QueryLog } from '../src/logs/query-log.ts';
import type { Store } from '../src/store/port.ts';
import { createAccessTokens } from './browser/access-tokens.ts';
import { BUILD } from '../hosts/build.ts';
import { createClock } from '../hosts/clock.ts';
import { IndexBuilds } from '../hosts/index-builds.ts';
import { SweepSchedule } from '../hosts/sweep-schedule.ts';
import { CommitFeed } from './tabs/commit-feed.ts';
import { Lease } from './tabs/lease.ts';
import { guardedStore, lockedStore } from './lock/lock.ts';
import { LiveQueries } from './queries/live-queries.ts';
import { inTurn, unlessElsewhere } from './tabs/web-locks.ts';
import { startHashingWorker, PasswordPool } from './passwords/passwords.ts';
import { pause } from './browser/pause.ts';
import { report } from './queries/replies.ts';
import { SyncSession } from './sync/session.ts';
import { syncedEngine } from './sync/synced-engine.ts';
import { isLoginOfCopy } from './sync/unlock-copy.ts';
import { OfflineLogin } from './sync/verifier.ts';
import { Tabs } from './tabs/tabs.ts';
import type { LoginHost } from './lock/unlock.ts';

const REGION_GROUP = 'local';
const HASHING_WORKERS_MAX = 2;

export interface OpenContext {
  /** What else must be settled before the first answer. */
  readonly ready: Promise<unknown>;
  readonly tell: (message: WorkerMessage) => void;
  /** Another tab has deleted the database. */
  readonly onDestroyed: () => void;
  /** The database was locked, or what was locked is open again. */
  readonly onLock: (state: 'locked' | 'unlocked') => void;
}

/** A store, and whether it was found locked. Then its engine serves logins only, whatever is in the store. */
export interface FoundStore {
  readonly store: Store;
  readonly isLocked: boolean;
}

export interface OpenDatabase {
  readonly engine: Engine;
  readonly http: HttpHost;
  readonly live: LiveQueries;
  readonly log: QueryLog | undefined;
  readonly exports: LogExports;
  readonly sync: SyncSession;
  readonly tabs: Tabs;
  readonly clock: () => number;
  readonly rootSecret: string;
  readonly isLocked: boolean;
  readonly isLoginOfCopy: LoginHost['isLoginOfCopy'];
  /** Lets go of everything. Nothing may be under way. */
  close(): Promise<void>;
}

export async function openDatabase(
  opening: Promise<FoundStore>,
  options: OpenOptions,
  { tell, onDestroyed, onLock, ready }: OpenContext,
): Promise<OpenDatabase> {
  const { settings } = options;
  const clock = createClock();
  const feed = new CommitFeed();
  let session: SyncSession | undefined = undefined;
  const tabs = new Tabs(options.name, (message) => {
    if (message.type === 'commit') feed.publish(message.notice, 'other');
    else if (message.type === 'opening') lease?.giveUp();
    else if (message.type === 'left') lease?.noteLeft();
    else if (message.type === 'destroyed') onDestroyed();
    else if (message.type === 'locked' || message.type === 'unlocked') onLock(message.type);
    else session?.hear(message);
  });
  const lease = makeLease(options.name, tabs);
  // Before anything is written: nobody believes itself alone from here on.
  const joined = Promise.all([lease?.join(), ready]);
  const [{ store, isLocked }] = await Promise.all([opening, joined]).catch(
    async (reason: unknown) => {
      await joined.catch(() => undefined);
      lease?.close();
      tabs.close();
      throw reason;
    },
  );

  const pool = new PasswordPool({
    hashCost: settings.hashCost,
    start: startHashingWorker,
    workersMax: Math.min(
      HASHING_WORKERS_MAX,
      Math.max(1, (navigator.hardwareConcurrency ?? 2) - 1),
    ),
  });
  const onMark = (state: 'locked' | 'forgotten'): void =>
    state === 'locked' ? onLock(state) : onDestroyed();
  // A page that names its own secret must not be able to log in by it.
  const known = isLocked ? undefined : options.rootSecret;
  const rootSecret = known ?? `burrow-root-${base64Url(random(30))}`;
  const view = new ReplicaView();
  const stored = createEngine({
    store: isLocked ? lockedStore(store) : guardedStore(store, onMark),
    clock,
    random,
    sha256,
    passwords: pool.passwords,
    hashCost: settings.hashCost,
    accessTokens: createAccessTokens(settings.audience),
    durability: settings.durability,
    rootSecret,
    regionGroup: REGION_GROUP,
    pause,
    view,
    ...(lease && { lease }),
  });
  const replica = createReplica({
    engine: stored,
    view,
    clock,
    random,
    sha256,
    onSubmitted: (write) => sync.noteWrite(write),
  });
  let isClosing = false;
  /** Background work that is cut off by closing has not failed. */
  const reportWork = (reason: unknown): void => {
    if (!isClosing) report(reason);
  };
  const { passwords } = pool;
  const offlineLogin = new OfflineLogin({
    store,
    transactions: stored.transactions,
    clock,
    hash: (password, cost) => passwords.hash(password, cost),
    verify: (password, hash) => passwords.verify(password, hash),
  });
  const sync = new SyncSession({
    name: options.name,
    replica,
    engine: stored,
    offlineLogin,
    tabs,
    clock,
    random,
    secret: isLocked ? undefined : options.syncSecret,
    durability: settings.durability,
    tell,
    report: reportWork,
  });
  session = sync;
  const engine = syncedEngine(stored, sync, replica);
  const { log, exports } = makeLogs(store, options, { clock, report: reportWork });
  const live = new LiveQueries({
    engine,
    tell: (id, answer) => tell({ type: 'answer', id, ...answer }),
    pause,
    now: () => performance.now(),
  });
  // Background jobs run in one tab at a time.
  const builds = new IndexBuilds({
    build: () =>
      inTurn(`burrow:build:${options.name}`, () =>
        engine.buildIndexes(({ index, done, isComplete }) =>
          tell({ type: 'progress', task: 'index', name: index, done, isComplete }),
        ),
      ),
    report: reportWork,
  });
  const sweeps = new SweepSchedule({
    sweep: () =>
      unlessElsewhere(`burrow:garbage:${options.name}`, () => engine.collectExpiredData()),
    report: reportWork,
    after: (ms, body) => {
      const timer = setTimeout(body, ms);
      return () => clearTimeout(timer);
    },
  });
  engine.onCommit((notice) => {
    // Whoever is alone has nobody to tell; a tab that comes later reads what is there.
    if (!lease?.isHeld()) tabs.tell({ type: 'commit', notice: shortNotice(notice) });
    feed.publish(notice, 'own');
  });
  feed.listen((notice, { origin, isComplete }) => {
    if (origin === 'other') engine.noteCommit(notice);
    live.noteCommit(notice, isComplete);
    builds.noteCommit(notice);
    sweeps.noteCommit(notice);
    sync.noteCommit(notice);
  });
  if (!isLocked) {
    builds.start();
    void exports.work();
  }
  const onCommit = (listener: (notice: CommitNotice) => void) => feed.listen(listener);
  return {
    engine,
    http: {
      engine,
      build: BUILD,
      clock,
      random,
      report,
      onCommit,
      ...(log && { log }),
      exports,
    },
    live,
    log,
    exports,
    sync,
    tabs,
    clock,
    rootSecret,
    isLocked,
    isLoginOfCopy: (call) => {
      const { name } = options;
      return isLoginOfCopy({ name, replica, offlineLogin, login: sync.login }, call);
    },
    async close() {
      isClosing = true;
      builds.close();
      sweeps.close();
      await sync.stop();
      live.close();
      await exports.close();
      await log?.flush();
      pool.close();
      await engine.close();
      lease?.close();
      tabs.tell({ type: 'left' });
      tabs.close();
    },
  };
}

/** Past this many keys others are told that anything may have changed: cheaper than telling what. */
const NOTICE_KEYS_MAX = 256;

function shortNotice(notice: CommitNotice): CommitNotice {
  const { ts, rows, entries } = notice;
  if (rows.length + entries.length <= NOTICE_KEYS_MAX) return notice;
  // As if commits before it had been missed.
  return { previous: ts, ts, rows: [], entries: [] };
}

function makeLease(name: string, tabs: Tabs): Lease | undefined {
  const { locks } = navigator as { readonly locks?: LockManager };
  if (!locks) return undefined;
  return new Lease({
    name,
    id: hexOfBytes(random(16)),
    locks,
    now: () => performance.now(),
    announce: () => tabs.tell({ type: 'opening' }),
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
}

function makeLogs(
  store: Store,
  { settings, name }: OpenOptions,
  host: { readonly clock: () => number; readonly report: (reason: unknown) => void },
): { readonly log: QueryLog | undefined; readonly exports: LogExports } {
  const { enabled, retentionDays, maxBytes } = settings.log;
  const common = { ...host, store, random, pause, regionGroup: REGION_GROUP };
  const log = enabled ? new QueryLog({ ...common, retentionDays, maxBytes }) : undefined;
  const exports = new LogExports({
    ...common,
    // Without a log of its own, what an earlier one left can still be exported.
    log: log ?? { flush: () => Promise.resolve() },
    openGzip: openGzipLater,
    exclusively: (body) => unlessElsewhere(`burrow:exports:${name}`, body),
  });
  return { log, exports };
}

/** In the same file; but its tables are made when the first log is exported, not at each start. */
const openGzipLater = async (): Promise<GzipStream> =>
  (await import('../hosts/open-gzip.ts')).openGzip();

const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));

const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
