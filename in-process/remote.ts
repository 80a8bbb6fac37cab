/**
 * `burrowdb/remote`: the clients of the page on a hub, for scripts and seeds. Answers are decoded and failures named by the page's own
 * code: a host in the same process takes its calls and sends them by `fetch`.
 */
import {
  openDatabase,
  UsageError,
  type BurrowFetch,
  type Client,
  type Database,
  type Logs,
} from '../src/index.ts';
import { requireKnown } from '../src/schema/require-known.ts';
import { servePage } from '../worker/serve-page.ts';
import { plainHost } from './plain-host.ts';
import { startPortWorker } from './port-worker.ts';
import { isSecret, remoteDatabase } from './remote-database.ts';

export interface ConnectOptions {
  /** Of the hub, `http` or `https`. */
  readonly url: string;
  /** Of a key or a token, or the hub's root secret. */
  readonly secret: string;
}

/** A hub, as scripts use it. */
export interface RemoteDatabase {
  /** Without a slash at its end. */
  readonly url: string;
  /** Acts with the secret of a key or a token; without options with the one of `connect()`. */
  client(options?: { readonly secret?: string }): Client;
  /** For hooks and components. What only a database on the device can do is refused. */
  readonly database: Database;
  /** The HTTP API of the hub, with the secret of `connect()` where a request names none. The host of a URL is ignored. */
  readonly fetch: BurrowFetch;
  /** The query log of the hub. */
  readonly logs: Logs;
  /** Ends what is under way: of such a write it is unknown whether it took effect. */
  close(): Promise<void>;
}

/**
 * The hub at a URL. Sends nothing yet: the first query shows whether the hub can be reached and knows the secret.
 * @throws UsageError when an option is invalid
 * @example
 * const remote = await connect({ url: listening.url, secret: listening.secret });
 * console.log(await remote.client().query(q.Add(1, 2))); // 3
 * await remote.close();
 */
export async function connect(options: ConnectOptions): Promise<RemoteDatabase> {
  requireKnown(options, ['url', 'secret']);
  const url = urlOf(options);
  const { secret } = options;
  if (typeof secret !== 'string' || !isSecret(secret))
    throw new UsageError('The option `secret` must be the secret of a key or a token.');
  const database = await openDatabase(`hub ${url}`, {
    persist: false,
    worker: () =>
      startPortWorker((port) => {
        const ended = new AbortController();
        const { signal } = ended;
        servePage(
          plainHost(remoteDatabase({ url, secret, ended: signal }), {
            ended: signal,
          }),
          port,
        );
        return () => ended.abort();
      }),
  });
  return {
    url,
    database,
    client: (of) => database.client(of),
    fetch: database.fetch,
    logs: database.logs,
    close: () => database.close(),
  };
}

function urlOf({ url }: ConnectOptions): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  const isPlain = parsed && !parsed.username && !parsed.password && !parsed.search && !parsed.hash;
  if (!isPlain || !/^https?:$/.test(parsed.protocol))
    throw new UsageError(
      'The option `url` must be the http or https URL of a hub, without a password and a query.',
    );
  return parsed.href.replace(/\/+$/, '');
}
