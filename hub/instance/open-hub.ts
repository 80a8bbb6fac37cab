/** An engine over a store, with what a server needs around it: logs, exports, hashing, index builds. */
import { createHmac, hash, randomBytes } from 'node:crypto';
import { createEngine } from '../../src/engine/engine.ts';
import type { CommitNotice, EngineOptions } from '../../src/engine/host.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { longQueryReader } from '../../src/engine/session.ts';
import { hashOfRootSecret } from '../../src/engine/access.ts';
import type { HttpHost } from '../../src/http/message.ts';
import { LogExports } from '../../src/logs/exports.ts';
import { QueryLog } from '../../src/logs/query-log.ts';
import { SYNC_LIMITS } from '../../src/limits.ts';
import type { Store } from '../../src/store/port.ts';
import { pruneChanges } from '../../src/sync/hub/prune-changes.ts';
import { pruneGoneDatabases } from '../../src/sync/hub/prune-gone.ts';
import { createAccessTokens } from './access-tokens.ts';
import { Background } from './background.ts';
import { createClock } from './clock.ts';
import { createDice } from './random-bytes.ts';
import { prepareHubRows } from '../store/hub-rows.ts';
import { openGzip } from '../../hosts/open-gzip.ts';
import { PasswordPool } from '../passwords/password-pool.ts';
import type { HubSettings } from '../settings/settings.ts';
import type { HubStore } from '../store/open-store.ts';

export const BUILD = 'burrow-0.1.0';

/** What an engine stands on: `openHubStore()` gives it. */
export type HubGround = Pick<HubStore, 'store' | 'lease' | 'onOtherCommit' | 'close'> &
  Partial<Pick<HubStore, 'roundTrips'>>;

export type OpenHubSettings = Pick<
  HubSettings,
  'rootSecret' | 'regionGroup' | 'hashCost' | 'publicUrl' | 'queryLog' | 'limits'
>;

export interface OpenedHub {
  readonly store: Store;
  readonly engine: Engine;
  /** For `handleRequest` and whoever serves more over HTTP. */
  readonly http: HttpHost;
  /** 32 hex digits: another after each restore. */
  readonly epoch: string;
  /** What the engine knows callers by: for who judges them beside it. */
  readonly authentication: Pick<EngineOptions, 'random' | 'sha256' | 'rootSecret' | 'accessTokens'>;
  /** Commits of this process and of others on the same data, as far as they are told. */
  readonly onCommit: (listener: (notice: CommitNotice) => void) => () => void;
  /** Only when it was made just now: it is kept as a hash and cannot be shown again. */
  readonly newRootSecret: string | undefined;
  readonly passwordsWaiting: () => number;
  /** To the database, until now. */
  readonly roundTrips: () => number;
  /** Lets go of everything. Nothing may be under way. */
  close(): Promise<void>;
}

const FLUSH_MS = 2000;

export const sha256 = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(hash('sha256', bytes, 'buffer'));

export async function openHub(
  ground: HubGround,
  settings: OpenHubSettings,
  report: (reason: unknown) => void,
): Promise<OpenedHub> {
  const { store, lease } = ground;
  const root = chooseRootSecret(settings.rootSecret);
  const rows = await prepareHubRows(store, root.hashFor);
  const clock = createClock();
  const random = createDice();
  const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const { regionGroup, hashCost, limits } = settings;
  const pool = new PasswordPool({
    hashCost,
    threads: limits.passwordThreads,
    waitingMax: limits.passwordsWaiting,
  });
  const authentication = {
    random,
    sha256,
    rootSecret: { hash: rows.rootHash ?? '' },
    accessTokens: createAccessTokens(settings.publicUrl),
  };
  const engine = createEngine({
    ...authentication,
    store,
    clock,
    passwords: pool.passwords,
    hashCost,
    durability: 'strict',
    regionGroup,
    pause,
    readLong: longQueryReader(pause),
    // Devices are brought up to date from it.
    logsChanges: true,
    ...(lease && { lease }),
  });
  const state = { isClosing: false };
  /** Background work that is cut off by closing has not failed. */
  const reportWork = (reason: unknown): void => {
    if (!state.isClosing) report(reason);
  };
  const logs = openLogs(store, settings, { clock, random, pause, report: reportWork }, rows.urlKey);
  const commits = openCommits(engine, ground);
  const background = new Background({
    engine: {
      buildIndexes: (onProgress) => engine.buildIndexes(onProgress),
      async collectGarbage(onProgress) {
        await engine.collectGarbage(onProgress);
        const { transactions } = engine;
        await pruneChanges({ transactions, clock }, clock() - SYNC_LIMITS.changesKeptMicros);
        await pruneGoneDatabases({ transactions, clock });
      },
    },
    report: reportWork,
  });
  commits.listen((notice) => background.noteCommit(notice));
  const flushing = setInterval(() => void logs.log?.flush(), FLUSH_MS).unref();
  void logs.exports.work();
  return {
    store,
    engine,
    epoch: rows.epoch,
    authentication,
    onCommit: commits.listen,
    newRootSecret: root.made(),
    passwordsWaiting: () => pool.waitingCount,
    roundTrips: () => ground.roundTrips?.() ?? 0,
    http: {
      engine,
      clock,
      random,
      report,
      build: BUILD,
      onCommit: commits.listen,
      queryTime: { defaultMs: limits.queryTimeoutDefaultMs, maxMs: limits.queryTimeoutMaxMs },
      ...(logs.log && { log: logs.log }),
      exports: logs.exports,
    },
    async close() {
      state.isClosing = true;
      clearInterval(flushing);
      commits.close();
      background.close();
      await logs.exports.close();
      await logs.log?.flush();
      await pool.close();
      await engine.close();
      await ground.close();
    },
  };
}

/** Given: it counts from now on. Not given: the one made at first stays. */
function chooseRootSecret(given: string | undefined) {
  let made: string | undefined;
  return {
    hashFor: (known: string | undefined): string => {
      if (given !== undefined) return hashOfRootSecret(given, sha256);
      if (known !== undefined) return known;
      made = `burrow-root-${randomBytes(30).toString('base64url')}`;
      return hashOfRootSecret(made, sha256);
    },
    made: () => made,
  };
}

function openLogs(
  store: Store,
  { queryLog, regionGroup }: OpenHubSettings,
  host: Pick<HttpHost, 'clock' | 'random'> & {
    readonly pause: () => Promise<void>;
    readonly report: (reason: unknown) => void;
  },
  urlKey: string,
): { readonly log: QueryLog | undefined; readonly exports: LogExports } {
  const { enabled, retentionDays, maxBytes } = queryLog;
  const log = enabled ? new QueryLog({ ...host, store, retentionDays, maxBytes }) : undefined;
  const exports = new LogExports({
    ...host,
    store,
    regionGroup,
    // Without a log of its own, what an earlier one left can still be exported.
    log: log ?? { flush: () => Promise.resolve() },
    openGzip,
    sign: (text) => createHmac('sha256', urlKey).update(text).digest('base64url'),
  });
  return { log, exports };
}

function openCommits(engine: Engine, ground: HubGround) {
  const listeners = new Set<(notice: CommitNotice) => void>();
  const tell = (notice: CommitNotice): void => {
    for (const listener of listeners) listener(notice);
  };
  const stops = [
    engine.onCommit(tell),
    ground.onOtherCommit((notice) => {
      engine.noteCommit(notice);
      tell(notice);
    }),
  ];
  return {
    listen: (listener: (notice: CommitNotice) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => {
      for (const stop of stops) stop();
      listeners.clear();
    },
  };
}
