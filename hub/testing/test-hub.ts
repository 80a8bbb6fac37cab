/** A hub on a free port of loopback, over any storage; in memory by default. */
import { onTestFinished } from 'vitest';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createHubServer } from '../http/create-hub-server.ts';
import type { TlsFiles } from '../connections/acceptor.ts';
import type { HubRoute } from '../http/route.ts';
import { createLogger } from '../monitoring/logger.ts';
import { openHub, type HubStorage, type OpenedHub } from '../instance/open-hub.ts';
import { DEFAULT_SETTINGS, type HubSettings } from '../settings/settings.ts';

export interface TestHub {
  readonly url: string;
  readonly port: number;
  readonly secret: string;
  readonly hub: OpenedHub;
  /** The log so far, at the most detailed level. */
  readonly logged: () => string;
  readonly query: (
    query: unknown,
    secret?: string,
    headers?: Record<string, string>,
  ) => Promise<TestAnswer>;
  readonly close: () => Promise<void>;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly resource?: unknown; readonly errors?: readonly { code: string }[] };
}

export interface TestHubOptions {
  readonly storage?: HubStorage;
  readonly settings?: Partial<HubSettings>;
  readonly tls?: TlsFiles;
  readonly routes?: (hub: OpenedHub) => readonly HubRoute[];
}

/** A storage in the memory of this process. */
export function memoryStorage(): HubStorage {
  const store = createMemoryStore();
  return {
    store,
    lease: { term: () => 1 },
    onOtherCommit: () => () => undefined,
    close: () => Promise.resolve(),
  };
}

/** Tests send requests faster than people do, to machines that may be busy. */
const UNLIMITED = {
  ratePerToken: 0,
  ratePerAddress: 0,
  connectionWaitMs: 120_000,
  queryTimeoutDefaultMs: 120_000,
  queryTimeoutMaxMs: 120_000,
  // Threads need their bundled program: `hub-process.ts` starts hubs with them.
  queryThreads: 0,
};

/** Opens a hub that is closed when the test has ended. */
export async function openTestHub(options?: TestHubOptions): Promise<TestHub> {
  const hub = await startTestHub(options);
  onTestFinished(() => hub.close());
  return hub;
}

export async function startTestHub(options: TestHubOptions = {}): Promise<TestHub> {
  const secret = 'burrow-root-of-a-test-hub-which-is-known';
  const settings: HubSettings = {
    ...DEFAULT_SETTINGS,
    rootSecret: secret,
    hashCost: 4,
    ...UNLIMITED,
    ...options.settings,
  };
  let logged = '';
  const logger = createLogger('trace', { write: (line) => void (logged += line) });
  const report = (reason: unknown): void => logger.error({ err: reason }, 'failed');
  const hub = await openHub(options.storage ?? memoryStorage(), settings, report);
  const server = createHubServer({
    hub,
    settings,
    tls: options.tls,
    logger,
    routes: options.routes?.(hub) ?? [],
  });
  const url = await server.listen(0);
  let closing: Promise<void> | undefined;
  return {
    url,
    port: Number(new URL(url).port),
    secret,
    hub,
    logged: () => logged,
    async query(query, as = secret, headers = {}) {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${as}`, 'x-faunadb-api-version': '4', ...headers },
        body: JSON.stringify(query),
      });
      const body = (await answer.json()) as TestAnswer['body'];
      return { status: answer.status, headers: answer.headers, body };
    },
    close: () =>
      (closing ??= (async () => {
        await server.close();
        await hub.close();
      })()),
  };
}
