/**
 * `burrowdb/remote`: the clients of the page for a hub, for scripts and seeds. The page's own code decodes answers and creates errors; a
 * host in the same process receives its calls and sends them to the hub by `fetch`.
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
import { LocalChannel } from './local-channel.ts';
import { plainHost } from './plain-host.ts';
import { startPortWorker } from './port-worker.ts';
import { isSecret, remoteDatabase } from './remote-database.ts';

export interface ConnectOptions {
  /** URL of the hub, `http` or `https`, without a password or a query. */
  readonly url: string;
  /** The secret of a key or a token, or the hub's root secret. */
  readonly secret: string;
}

/** A hub, as scripts use it. */
export interface RemoteDatabase {
  /** URL of the hub, without a slash at the end. */
  readonly url: string;
  /** A client that uses the secret of a key or a token. Default: the secret passed to `connect()`. */
  client(options?: { readonly secret?: string }): Client;
  /** For hooks and components. Calls that need a database on the device are refused. */
  readonly database: Database;
  /**
   * The HTTP API of the hub. Requests without an `authorization` header use the secret passed to `connect()`. The host of a URL is
   * ignored.
   */
  readonly fetch: BurrowFetch;
  /** The query log of the hub. */
  readonly logs: Logs;
  /** Ends live queries and requests in progress. It is then unknown whether a write in progress took effect. */
  close(): Promise<void>;
}

/**
 * Returns the database of the hub at a URL. Sends no request: the first query shows whether the hub can be reached and accepts the
 * secret.
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
      }, LocalChannel),
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
  const parsed = typeof url === 'string' ? parse(url) : undefined;
  const isPlain = parsed && !parsed.username && !parsed.password && !parsed.search && !parsed.hash;
  if (!isPlain || !/^https?:$/.test(parsed.protocol))
    throw new UsageError(
      'The option `url` must be the http or https URL of a hub, without a password and a query.',
    );
  return parsed.href.replace(/\/+$/, '');
}

/** Not `URL.canParse`, which Cloudflare Workers with an old compatibility date lack. */
function parse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
