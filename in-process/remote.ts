/**
 * `burrowdb/remote`: the clients of the page on a hub, for scripts and seeds. Answers are decoded and failures named by the page's own
 * code: a host in the same process takes its calls and sends them by `fetch`.
 */
import { openDatabase, q, UsageError, type Arg, type Client, type Logs } from '../src/index.ts';
import { servePage } from '../worker/serve-page.ts';
import { plainHost } from './plain-host.ts';
import { startPortWorker } from './port-worker.ts';
import { isSendable, remoteDatabase } from './remote-database.ts';

export interface ConnectOptions {
  /** Of the hub, `http` or `https`. */
  readonly url: string;
  /** Of a key or a token, or the hub's root secret. */
  readonly secret: string;
}

/** A client without live queries: a hub tells of changes of single documents and sets only. */
export type RemoteClient = Omit<Client, 'subscribe'>;

/** A hub, as scripts use it. */
export interface RemoteDatabase {
  /** Without a slash at its end. */
  readonly url: string;
  /** Acts with the secret of a key or a token; without options with the one of `connect()`. */
  client(options?: { readonly secret?: string }): RemoteClient;
  /** The query log of the hub. */
  readonly logs: Logs;
  /** Ends what is under way: of such a write it is unknown whether it took effect. */
  close(): Promise<void>;
}

/** Between two looks at an index that is being built, ms. */
const INDEX_MS = 250;

/**
 * The hub at a URL. Sends nothing yet: the first query tells whether the hub can be reached and knows the secret.
 * @throws UsageError when an option is invalid
 */
export async function connect(options: ConnectOptions): Promise<RemoteDatabase> {
  const url = urlOf(options);
  const { secret } = options;
  if (typeof secret !== 'string' || !isSendable(secret))
    throw new UsageError('The option `secret` must be the secret of a key or a token.');
  const database = await openDatabase(`hub ${url}`, {
    persist: false,
    worker: () =>
      startPortWorker((port) => {
        const ended = new AbortController();
        const { signal } = ended;
        servePage(
          plainHost(remoteDatabase({ url, secret, ended: signal }), {
            what: 'A hub',
            ended: signal,
          }),
          port,
        );
        return () => ended.abort();
      }),
  });
  return {
    url,
    client: (of) => withoutLiveQueries(database.client(of)),
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

/** Also for callers without types. */
const withoutLiveQueries = (client: Client): RemoteClient =>
  Object.defineProperties(client, {
    subscribe: {
      value: () => {
        throw new UsageError(
          'A client of connect() has no live queries. Query again, or keep a copy with db.sync() and subscribe to that.',
        );
      },
    },
    whenActive: { value: (index: Arg) => whenActive(client, index) },
  });

async function whenActive(client: Client, index: Arg): Promise<void> {
  while (!(await client.query(q.Select('active', q.Get(index)))))
    await new Promise((resolve) => setTimeout(resolve, INDEX_MS));
}
