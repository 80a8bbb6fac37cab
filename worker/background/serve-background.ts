/** This file in a service worker: defines the function that handles Background Sync and Periodic Background Sync events. */
import {
  backgroundRequestIn,
  type BackgroundEngine,
  type BackgroundSyncRequest,
} from '../../src/host/background.ts';
import type { DatabaseStorage } from '../opening/find-store.ts';
import { syncOnce } from './sync-once.ts';

/** Time limit of one sync: browsers terminate a service worker after a few minutes. */
const LIMIT_MS = 90_000;

type Scope = typeof globalThis | ServiceWorkerGlobalScope;

export const isServiceWorker = (scope: Scope): scope is ServiceWorkerGlobalScope =>
  'registration' in scope && 'clients' in scope;

export function serveBackground(scope: ServiceWorkerGlobalScope, storage: DatabaseStorage): void {
  /** Running syncs by tag, because the browser may send both kinds of event at the same time. */
  const running = new Map<string, Promise<void>>();
  const engine: BackgroundEngine = {
    burrowSync: async (tag) => {
      const request = backgroundRequestIn(tag);
      if (!request) return;
      const run =
        running.get(tag) ??
        syncStored(storage, request).finally(() => {
          running.delete(tag);
        });
      running.set(tag, run);
      await run;
    },
  };
  Object.assign(scope, engine);
}

async function syncStored(storage: DatabaseStorage, request: BackgroundSyncRequest): Promise<void> {
  // Opening a deleted database would create it again.
  const stored = await indexedDB.databases();
  if (stored.some(({ name }) => name === request.name)) await syncOnce(storage, request, LIMIT_MS);
}
