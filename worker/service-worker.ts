/**
 * A service worker for apps that want Burrow's HTTP API under a path of their own origin: `fetch('/burrow/tokens/self')`, plain download
 * links. It stores no data: it forwards each request to an open page. Optional; built as one classic script.
 *
 * Configured by its URL: `service-worker.js?prefix=/burrow/&database=field-notes&precache=1`.
 * - `prefix`: the path that it serves. Default: `/burrow/`.
 * - `database`: forwards only to pages that have this database open. Default: to any page.
 * - `precache`: caches the app's files for use without a network, see file-cache.ts.
 * - `engine=worker.js`: continues sync while no page is open (`burrowdb/background`). The file is part of the package, next to this one.
 *
 * An app's own service worker may import this script. Then the options are in the URL of that service worker, and it decides when an
 * update takes over.
 */
import { isBackgroundTag, type BackgroundEngine } from '../src/host/background.ts';
import type { ServiceRequest } from '../src/host/service-worker.ts';
import { AppCache } from './service-worker/file-cache.ts';
import { forward, type Page } from './service-worker/forward.ts';

declare const self: ServiceWorkerGlobalScope & Partial<BackgroundEngine>;

/** The event of Background Sync, which TypeScript's types for service workers lack. */
interface SyncEvent extends ExtendableEvent {
  readonly tag: string;
}

const { href, searchParams: settings } = new URL(self.location.href);
const isImported = !href.startsWith(ownUrl() ?? href);
const prefix = `/${(settings.get('prefix') ?? 'burrow').replaceAll(/^\/+|\/+$/g, '')}`;
const options = {
  database: settings.get('database') ?? undefined,
  acceptMs: 1000,
  answerMs: 120_000,
  goneMs: 10_000,
  isOpen: async (id: string) => (await self.clients.get(id)) !== undefined,
};
const app = settings.has('precache')
  ? new AppCache(new URL('./', self.location.href).href)
  : undefined;

const engine = settings.get('engine');

self.addEventListener('install', (event) => {
  // Imported during installation, so that the browser stores the file with this script and can load it later without a network.
  if (engine !== null) importScripts(engine);
  event.waitUntil(Promise.all([isImported || self.skipWaiting(), app?.refresh()]));
});

self.addEventListener('activate', (event) => {
  // Serves the page that registered this service worker at once, without a reload.
  if (!isImported) event.waitUntil(self.clients.claim());
});

self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (url.origin !== self.location.origin) return;
  if (url.pathname === prefix || url.pathname.startsWith(`${prefix}/`)) {
    event.respondWith(answer(event, url));
  } else if (app && event.request.method === 'GET') {
    if (event.request.mode === 'navigate') {
      // A failed refresh is ignored: without a network, the cached version is used.
      event.waitUntil(app.refresh().catch(() => undefined));
    }
    event.respondWith(app.answer(event.request, event));
  }
});

for (const kind of ['sync', 'periodicsync'])
  self.addEventListener(kind, (event) => {
    const { tag } = event as SyncEvent;
    if (engine === null || !isBackgroundTag(tag)) return;
    if (!self.burrowSync) importScripts(engine);
    (event as SyncEvent).waitUntil(self.burrowSync?.(tag) ?? Promise.resolve());
  });

/**
 * The URL of this script. `location` is the URL of the service worker that imports it, so the URL is read from an error's stack, which
 * begins with this script. WebKit omits the query string there.
 */
function ownUrl(): string | undefined {
  return /https?:[^\s?]+?(?=\?|:\d+:\d+)/.exec(String(new Error('not thrown').stack))?.[0];
}

async function answer(event: FetchEvent, url: URL): Promise<Response> {
  const own = event.clientId === '' ? undefined : await self.clients.get(event.clientId);
  const others = (): Promise<readonly Page[]> => self.clients.matchAll({ type: 'window' });
  return forward(await readRequest(event.request, url), own, others, options);
}

async function readRequest(request: Request, url: URL): Promise<ServiceRequest> {
  const { method } = request;
  const path = url.pathname.slice(prefix.length);
  return {
    method,
    path: `${path === '' ? '/' : path}${url.search}`,
    headers: Object.fromEntries(request.headers),
    body: method === 'GET' || method === 'HEAD' ? undefined : await request.text(),
    base: `${self.location.origin}${prefix}`,
  };
}
