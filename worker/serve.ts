import { isServiceWorker, serveBackground } from './background/serve-background.ts';
import { serveEvaluator } from './evaluator.ts';
import { HASHING_NAME } from './passwords/hashing-protocol.ts';
import { serveHashing } from './passwords/hashing-worker.ts';
import { createHost } from './host.ts';
import type { DatabaseStorage } from './opening/find-store.ts';
import { EVALUATOR_NAME } from './queries/evaluator-messages.ts';
import { servePage } from './serve-page.ts';

/**
 * Makes this worker that of a page: one open database. Started again under another name, by itself, it is one that only hashes
 * passwords, or only executes queries that take long; imported into a service worker it syncs while no page is open. So users, and
 * their bundlers, have one file to care for.
 */
export function serve(storage: DatabaseStorage): void {
  if (isServiceWorker(self)) {
    serveBackground(self, storage);
    return;
  }
  const scope = self as unknown as DedicatedWorkerGlobalScope;
  if (scope.name === HASHING_NAME) {
    serveHashing(scope);
    return;
  }
  if (scope.name === EVALUATOR_NAME) {
    serveEvaluator(scope, storage);
    return;
  }
  servePage(createHost(storage), scope);
}
