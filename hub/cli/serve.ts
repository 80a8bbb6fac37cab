/** `burrow hub`: opens the store, listens, and shuts down in order. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createSecureContext } from 'node:tls';
import { codeOf } from '../../hosts/node-errors.ts';
import { Refusal } from '../../src/errors.ts';
import { inTime } from '../event-loop/in-time.ts';
import { createHubServer, type HubServer } from '../http/create-hub-server.ts';
import type { TlsFiles } from '../connections/acceptor.ts';
import { createFilesRoute, type FilesRoute } from '../files/files-route.ts';
import { openBlobs } from '../files/open-blobs.ts';
import { createLiveRoute } from '../live/live-route.ts';
import { openHub, type OpenedHub } from '../instance/open-hub.ts';
import { createLogger, type Logger } from '../monitoring/logger.ts';
import { SettingsFault } from '../settings/option-values.ts';
import { DAY_MICROS } from '../../src/values/time.ts';
import type { HubSettings } from '../settings/settings.ts';
import { withFailpoints } from '../store/failpoints.ts';
import {
  openHubStore,
  storePlaceOf,
  type HubStore,
  type HubStoreOptions,
} from '../store/open-store.ts';
import { createSyncRoute } from '../sync/sync-route.ts';

export interface RunningHub {
  readonly url: string;
  /** Stops in order and within `STOP_MS`, even if the database does not answer. */
  stop(): Promise<void>;
  /** Resolves with the reason when the hub has nothing left to serve. */
  readonly lost: Promise<string>;
}

/** Limit for the whole stop: a process that takes longer is killed. */
export const STOP_MS = 9500;

/** @param say prints a line for the operator @throws SettingsFault, Refusal */
export async function serve(
  given: HubSettings,
  say: (sentence: string) => void,
): Promise<RunningHub> {
  const logger = createLogger(given.logLevel);
  const settings = { ...given, sockets: Math.min(given.sockets, connectionsMax()) };
  if (settings.sockets < given.sockets) logger.warn({ sockets: settings.sockets }, FEW_FILES);
  const tls = readTls(settings);
  const tell = (reason: unknown): void => report(logger, reason);
  let onLost = (): void => undefined;
  const lost = new Promise<string>((resolve) => {
    onLost = () => resolve(MEMORY_LOST);
  });
  const storage = await openStorage(settings, { say, report: tell, onLost });
  let hub: OpenedHub | undefined;
  let server: HubServer | undefined;
  let files: FilesRoute | undefined;
  const close = async (): Promise<void> => {
    const begunMs = performance.now();
    // Long queries get half of the time, so that they end before the time for requests in progress is over.
    const ending = hub?.evaluators?.close(settings.drainMs / 2);
    await server?.close();
    files?.close();
    await ending;
    const closed = (hub ?? storage).close();
    // A folder is not released while something is written to it.
    if (settings.postgres === undefined) return closed;
    const isClosed = await inTime(closed, begunMs + STOP_MS - performance.now());
    if (!isClosed) logger.warn(UNANSWERED);
  };
  try {
    // Opened first, because this may refuse the settings: `openHub()` may generate the root secret, which is shown only by this
    // start.
    const kept = await openBlobs(settings, process.env);
    hub = await openHub(storage, settings, tell);
    files = createFilesRoute(hub, kept?.blobs, settings);
    const routes = [
      files,
      createSyncRoute(hub, { queryTimeoutMs: settings.queryTimeoutDefaultMs }),
      createLiveRoute(hub, settings),
    ];
    server = createHubServer({ hub, settings, tls, logger, routes });
    say(`Data: ${storage.describe}.`);
    if (settings.queryLog)
      say(`Queries are recorded there for ${settings.queryLogDays} days (--query-log off).`);
    if (kept) say(`Files: ${kept.describe}.`);
    const { value: last } = await hub.engine.transactions.read(({ head }) => ({ value: head }));
    if (last > Date.now() * 1000 + DAY_MICROS)
      logger.warn({ lastCommit: new Date(last / 1000).toISOString() }, AHEAD);
    if (hub.newRootSecret !== undefined) say(`Root secret, shown this once: ${hub.newRootSecret}`);
    return { url: await listen(server, settings), stop: close, lost };
  } catch (reason) {
    await close();
    throw reason;
  }
}

const MEMORY_LOST =
  'The database in memory was lost because its thread ended; its data cannot be recovered. Start the hub again; with --data <folder> it keeps its data on disk.';

const AHEAD =
  'The last commit has a later time than the clock of this machine. New commits continue from that time: documents with a ttl expire only when the clock has reached it, and what had expired by then is gone, history too. If the clock is wrong, set it. If it was wrong then, see "The clock" in docs/hub.md.';

const UNANSWERED =
  'The database did not respond, so the hub stopped without it. Acknowledged writes are stored; records of the query log that were still in memory are lost.';

async function openStorage(
  settings: HubSettings,
  host: Pick<HubStoreOptions, 'say' | 'report' | 'onLost'>,
): Promise<HubStore> {
  if (settings.postgres === undefined) requirePglite();
  const opened = await openHubStore({ at: storePlaceOf(settings), ...host });
  return { ...opened, store: withFailpoints(opened.store, process.env['HUB_FAILPOINT']) };
}

/** PGlite is an optional package of 25 MB: most who install Burrow build pages and do not need it. */
function requirePglite(): void {
  try {
    createRequire(import.meta.url).resolve('@electric-sql/pglite');
  } catch {
    throw new SettingsFault(
      'A hub with a folder needs PGlite: run `npm install @electric-sql/pglite`, or use a PostgreSQL server with --postgres.',
    );
  }
}

/**
 * Files that the hub itself needs: about 100 for PGlite (if it cannot open a file, it wrongly reports that the file exists), and
 * connections to PostgreSQL, libraries and pipes.
 */
const OWN_FILES = 192;
const OPEN_FILES_MIN = 256;

/**
 * The number of connections that the limit of open files allows. Beyond it, connections would be closed without a response, and
 * no file descriptors would be left for the data. @throws SettingsFault
 */
function connectionsMax(): number {
  const { userLimits } = process.report.getReport() as unknown as {
    readonly userLimits?: { readonly open_files: { readonly soft: unknown } };
  };
  const most = Number(userLimits?.open_files.soft);
  if (most < OPEN_FILES_MIN)
    throw new SettingsFault(
      `This process may open ${most} files, but a hub needs ${OPEN_FILES_MIN} and one more for each connection: ${RAISE}.`,
    );
  return Number.isFinite(most) ? most - OWN_FILES : Infinity;
}

const RAISE = 'raise ulimit -n (systemd: LimitNOFILE, Docker: --ulimit nofile)';
const FEW_FILES = `This process may open few files, so it takes fewer connections than --sockets allows: ${RAISE}, or lower --sockets.`;

async function listen(server: HubServer, { host, port }: HubSettings): Promise<string> {
  try {
    return await server.listen(port);
  } catch (reason) {
    const why = LISTEN_FAULTS.get(String(codeOf(reason))) ?? String(reason);
    throw new SettingsFault(`Cannot listen on ${host} port ${port}: ${why}.`);
  }
}

const LISTEN_FAULTS = new Map([
  ['EADDRINUSE', 'another process listens there'],
  ['EACCES', 'this user may not use the port'],
]);

function readTls({ tlsCert, tlsKey }: HubSettings): TlsFiles | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const read = (file: string): Buffer => {
    try {
      return readFileSync(file);
    } catch (reason) {
      throw new SettingsFault(`Cannot read ${file}: ${String(reason)}`);
    }
  };
  const files = { cert: read(tlsCert), key: read(tlsKey) };
  try {
    createSecureContext(files);
  } catch (reason) {
    throw new SettingsFault(`Cannot use ${tlsCert} with ${tlsKey}: ${String(reason)}`);
  }
  return files;
}

/** A refusal was sent to a caller, so it is a warning; anything else is an error of the hub. */
function report(logger: Logger, reason: unknown): void {
  if (reason instanceof Refusal) logger.warn({ err: reason }, 'refused');
  else logger.error({ err: reason }, 'failed');
}
