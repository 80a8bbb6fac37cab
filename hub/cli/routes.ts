/** What is served beside the engine's own surface. */
import type { MakeRoute } from './serve.ts';
import { createSyncRoute } from '../sync/sync-route.ts';

export const hubRoutes: readonly MakeRoute[] = [
  (hub, { limits }) => createSyncRoute(hub, { queryTimeoutMs: limits.queryTimeoutDefaultMs }),
];
