/**
 * Caches the files of an app for use without a network. `precache.json`, beside the service worker, lists the files:
 * `{"version": "…", "files": ["./", …]}`. A new version is fetched completely in the background and is used by the next page load; open
 * pages continue with the previous version.
 */

interface Precache {
  readonly version: string;
  readonly files: readonly string[];
}

const LIST = 'precache.json';
const PREFIX = 'burrow-app ';
const VERSIONS_KEPT = 2;
/** Name of a cache that maps the id of each page or worker to the version it started with. */
const CLIENTS = 'burrow-app-clients ';
const CLIENTS_KEPT = 500;

/** The client that sends the request, and the page or worker that the response starts; an empty string if there is none. */
export interface Asking {
  readonly clientId: string;
  readonly resultingClientId: string;
}

export class AppCache {
  /** The folder of the service worker: all URLs are relative to it. */
  private readonly base: string;
  private refreshing: Promise<void> | undefined = undefined;

  constructor(base: string) {
    this.base = base;
  }

  /** Fetches the list and, when it names another version, all its files. Rejects if that fails. */
  refresh(): Promise<void> {
    this.refreshing ??= this.fetchVersion().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** Responds from the cache, otherwise from the network. For a page that neither of them has, responds with the app's start page. */
  async answer(request: Request, asking?: Asking): Promise<Response> {
    const isPage = request.mode === 'navigate';
    const hit = await this.match(request, isPage, asking);
    if (hit) return hit;
    try {
      return await fetch(request);
    } catch (reason) {
      const start = isPage ? await this.match(new URL('./', this.base), true, asking) : undefined;
      if (start) return start;
      throw reason;
    }
  }

  /** Looks in the version that the requesting page started with; for a page that starts, in the newest version first. */
  private async match(
    request: Request | URL,
    isPage: boolean,
    { clientId, resultingClientId }: Asking = { clientId: '', resultingClientId: '' },
  ): Promise<Response | undefined> {
    const names = (await this.names()).reverse();
    const clients = await caches.open(CLIENTS + this.base);
    const own = isPage ? undefined : await (await clients.match(this.markOf(clientId)))?.text();
    if (own !== undefined && names.includes(own)) names.unshift(own);
    for (const name of names) {
      // A page requests its scripts with other headers than were sent when they were cached, and servers send `Vary: Origin`.
      const kept = await caches.open(name);
      const hit = await kept.match(request, { ignoreSearch: isPage, ignoreVary: true });
      if (!hit) continue;
      if (resultingClientId) {
        await clients.put(this.markOf(resultingClientId), new Response(name));
        const old = (await clients.keys()).slice(0, -CLIENTS_KEPT);
        await Promise.all(old.map((each) => clients.delete(each)));
      }
      // Browsers reject a redirected response for a navigation, so it is copied.
      return hit.redirected ? new Response(hit.body, hit) : hit;
    }
    return undefined;
  }

  private markOf(clientId: string): URL {
    return new URL(`?${clientId}`, this.base);
  }

  private async fetchVersion(): Promise<void> {
    const answer = await fetch(new URL(LIST, this.base), { cache: 'no-store' });
    if (!answer.ok) throw new Error(`Fetching ${LIST} failed with status ${answer.status}.`);
    const { version, files } = readPrecache(await answer.json());
    const name = `${PREFIX}${this.base} ${version}`;
    const whole: string[] = [];
    for (const each of await this.names())
      if (await this.isWhole(each)) whole.push(each);
      else await caches.delete(each);
    if (whole.at(-1) === name) return;
    await caches.delete(name);
    const cache = await caches.open(name);
    const urls = files.map((file) => new URL(file, this.base));
    await cache.addAll(urls.map((url) => new Request(url, { cache: 'reload' })));
    // The list is stored last: a version that was interrupted has no list, is ignored, and is fetched again.
    await cache.put(new URL(LIST, this.base), new Response(version));
    const old = whole.filter((each) => each !== name).slice(0, 1 - VERSIONS_KEPT);
    await Promise.all(old.map((each) => caches.delete(each)));
  }

  private async isWhole(name: string): Promise<boolean> {
    const cache = await caches.open(name);
    return (await cache.match(new URL(LIST, this.base))) !== undefined;
  }

  /** Oldest first, in the order of creation. */
  private async names(): Promise<string[]> {
    return (await caches.keys()).filter((name) => name.startsWith(`${PREFIX}${this.base} `));
  }
}

function readPrecache(json: unknown): Precache {
  if (typeof json === 'object' && json !== null && 'version' in json && 'files' in json) {
    const { version, files } = json;
    const isList = Array.isArray(files) && files.every((file) => typeof file === 'string');
    if (typeof version === 'string' && isList) return { version, files };
  }
  throw new Error(`${LIST} must be {"version": "…", "files": ["./", …]}.`);
}
