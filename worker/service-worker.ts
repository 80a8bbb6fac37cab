/**
 * A service worker for apps that want Burrow's HTTP surface under a path of their own origin: `fetch('/burrow/tokens/self')`, plain
 * download links. It holds nothing: each request is handed to an open page. Optional; built as one classic script.
 *
 * Set up by its URL: `service-worker.js?prefix=/burrow/&database=field-notes&precache=1`.
 * - `prefix`: path that it answers; `/burrow/` when left out.
 * - `database`: asks only pages that have this one open; any when left out.
 * - `precache`: keeps the app's files for use without network, see file-cache.ts.
 * - `engine=worker.js`: goes on with sync while no page is open (`burrowdb/background`); the file is the package's own, beside this.
 *
 * A service worker of the app may import it: then the URL of that one has the options, and it decides when an update takes over.
 */
import { isBackgroundTag, type BackgroundEngine } from '../src/host/background.ts';
import type { ServiceRequest } from '../src/host/service-worker.ts';
import { AppCache } from './service-worker/file-cache.ts';
import { forward, type Page } from './service-worker/forward.ts';

declare const self: ServiceWorkerGlobalScope & Partial<BackgroundEngine>;

/** Of Background Sync; TypeScript's service workers do not know it. */
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
  // Now, so that the browser keeps the file with this one: later it is there without network, and read only when it is needed.
  if (engine !== null) importScripts(engine);
  event.waitUntil(Promise.all([isImported || self.skipWaiting(), app?.refresh()]));
});

self.addEventListener('activate', (event) => {
  // The page that registered it is served from now on, without a reload.
  if (!isImported) event.waitUntil(self.clients.claim());
});

self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (url.origin !== self.location.origin) return;
  if (url.pathname === prefix || url.pathname.startsWith(`${prefix}/`)) {
    event.respondWith(answer(event, url));
  } else if (app && event.request.method === 'GET') {
    if (event.request.mode === 'navigate') {
      // Without network there is no newer version, and that is no failure.
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

/** `location` is that of the service worker that imports this script. Stacks begin with this one, in WebKit without what is behind `?`. */
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
