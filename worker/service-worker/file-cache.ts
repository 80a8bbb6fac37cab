/**
 * Keeps the files of an app for use without network, as its `precache.json` lists them: `{"version": "…", "files": ["./", …]}`,
 * beside the service worker. A new version is fetched whole behind the running one and serves the next page load; pages that are
 * still open go on with the one before.
 */

interface Precache {
  readonly version: string;
  readonly files: readonly string[];
}

const LIST = 'precache.json';
const PREFIX = 'burrow-app ';
const VERSIONS_KEPT = 2;
/** Which version each page and each of its workers began with: the name of a client and of its version. */
const CLIENTS = 'burrow-app-clients ';
const CLIENTS_KEPT = 500;

/** Who asks, and the page or worker that the answer begins; empty where there is none. */
export interface Asking {
  readonly clientId: string;
  readonly resultingClientId: string;
}

export class AppCache {
  /** Where the service worker stands: the base of all names. */
  private readonly base: string;
  private refreshing: Promise<void> | undefined = undefined;

  constructor(base: string) {
    this.base = base;
  }

  /** Fetches the list and, when it names another version, all its files. Rejects when that cannot be done. */
  refresh(): Promise<void> {
    this.refreshing ??= this.fetchVersion().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** What is kept, else what the network gives; a page that neither has is the app's start page. */
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

  /** Of the version that the asking page began with; for a page that begins, newest version first. */
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
      // A page asks for its scripts with other headers than were sent for them here, and servers say `Vary: Origin`.
      const kept = await caches.open(name);
      const hit = await kept.match(request, { ignoreSearch: isPage, ignoreVary: true });
      if (!hit) continue;
      if (resultingClientId) {
        await clients.put(this.markOf(resultingClientId), new Response(name));
        const old = (await clients.keys()).slice(0, -CLIENTS_KEPT);
        await Promise.all(old.map((each) => clients.delete(each)));
      }
      // For a navigation browsers refuse what was redirected when it was fetched.
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
    // Last of all: a version that was cut off has no list, is fetched again, and counts for none.
    await cache.put(new URL(LIST, this.base), new Response(version));
    const old = whole.filter((each) => each !== name).slice(0, 1 - VERSIONS_KEPT);
    await Promise.all(old.map((each) => caches.delete(each)));
  }

  private async isWhole(name: string): Promise<boolean> {
    const cache = await caches.open(name);
    return (await cache.match(new URL(LIST, this.base))) !== undefined;
  }

  /** Oldest first, as they were made. */
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
