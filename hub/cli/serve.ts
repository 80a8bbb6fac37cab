/** `burrow hub`: opens the store, listens, and ends in order when it is told to. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Refusal } from '../../src/errors.ts';
import { SettingsFault } from '../settings/read-settings.ts';
import { withFailpoints } from '../store/failpoints.ts';
import { createHubServer, type HubServer } from '../http/create-hub-server.ts';
import type { HubRoute } from '../http/route.ts';
import { createLogger, type Logger } from '../monitoring/logger.ts';
import { openHub, type OpenedHub } from '../instance/open-hub.ts';
import type { HubSettings } from '../settings/settings.ts';
import { openHubStore } from '../store/open-store.ts';

/** Parts served beside the engine's surface, each made over the opened hub. */
export type MakeRoute = (hub: OpenedHub, settings: HubSettings, logger: Logger) => HubRoute;

export interface ServeHost {
  /** A line for the operator. */
  readonly say: (sentence: string) => void;
  readonly routes: readonly MakeRoute[];
}

export interface RunningHub {
  readonly url: string;
  readonly hub: OpenedHub;
  stop(): Promise<void>;
}

/** @throws SettingsFault, Refusal */
export async function serve(settings: HubSettings, host: ServeHost): Promise<RunningHub> {
  const { say } = host;
  const logger = createLogger(settings.logLevel);
  const tls = readTls(settings);
  const { postgres, data } = settings;
  const at = postgres === undefined ? { data } : { postgres };
  if (postgres === undefined) requirePglite();
  const opened = await openHubStore({ at, say });
  const ground = { ...opened, store: withFailpoints(opened.store, process.env['HUB_FAILPOINT']) };
  const report = (reason: unknown): void => reportTo(logger, reason);
  let hub: OpenedHub | undefined;
  let server: HubServer | undefined;
  try {
    hub = await openHub(ground, settings, report);
    const over = hub;
    const routes = host.routes.map((make) => make(over, settings, logger));
    server = await createHubServer({ hub, settings: { ...settings, tls }, logger, routes });
    say(`Data: ${ground.describe}.`);
    if (settings.queryLog.enabled)
      say(
        `Queries are recorded there, for ${settings.queryLog.retentionDays} days (--query-log off).`,
      );
    if (hub.newRootSecret !== undefined) say(`Root secret, shown this once: ${hub.newRootSecret}`);
    const url = await listen(server, settings);
    const running = { url, hub, server };
    return {
      url,
      hub,
      async stop() {
        await running.server.close();
        await running.hub.close();
      },
    };
  } catch (reason) {
    await server?.close();
    await (hub ? hub.close() : ground.close());
    throw reason;
  }
}

/** Its 25 MB are no dependency of the package: most who install it build pages. */
function requirePglite(): void {
  try {
    createRequire(import.meta.url).resolve('@electric-sql/pglite');
  } catch {
    throw new SettingsFault(
      'A hub with a folder of its own needs PGlite: npm install @electric-sql/pglite, or give it a PostgreSQL with --postgres.',
    );
  }
}

async function listen(server: HubServer, { host, port }: HubSettings): Promise<string> {
  try {
    return await server.listen(port);
  } catch (reason) {
    const code = reason instanceof Error && 'code' in reason ? reason.code : undefined;
    const why =
      code === 'EADDRINUSE'
        ? 'another process listens there'
        : code === 'EACCES'
          ? 'this user may not'
          : String(reason);
    throw new SettingsFault(`The hub cannot listen at ${host} port ${port}: ${why}.`);
  }
}

function readTls({ tls }: HubSettings): { cert: Buffer; key: Buffer } | undefined {
  if (!tls) return undefined;
  const read = (file: string): Buffer => {
    try {
      return readFileSync(file);
    } catch (reason) {
      throw new SettingsFault(`${file} cannot be read: ${String(reason)}`);
    }
  };
  return { cert: read(tls.cert), key: read(tls.key) };
}

/** Refusals are answers that somebody got; what is not one is ours to mend. */
function reportTo(logger: Logger, reason: unknown): void {
  if (reason instanceof Refusal) logger.warn({ err: reason }, 'refused');
  else logger.error({ err: reason }, 'failed');
}
