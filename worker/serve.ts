import { isServiceWorker, serveBackground } from './background/serve-background.ts';
import { serveEvaluator } from './evaluator.ts';
import { HASHING_NAME } from './passwords/hashing-protocol.ts';
import { serveHashing } from './passwords/hashing-worker.ts';
import { createHost } from './host.ts';
import type { DatabaseStorage } from './opening/find-store.ts';
import { EVALUATOR_NAME } from './queries/evaluator-messages.ts';
import { servePage } from './serve-page.ts';

/**
 * Gives this worker its role. The same file is used for all workers, so that apps and bundlers handle only one. The worker of a page
 * serves one open database. Workers that it starts from the same file, under another name, only hash passwords or only execute long
 * queries. Imported into a service worker, the file syncs while no page is open.
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
