// `npm run bench:sync`: two browsers and a server on loopback; Burrow compared with PouchDB and RxDB. docs/benchmarks.md describes the
// workloads.
// --rounds 4  --writes 25  --only burrow,pouchdb  --quick  --no-queues  --no-latency  --first 200000  --out results
import { ensureNode, ensurePackages, runMain } from '../scripts/setup.mjs';

await runMain(async () => {
  ensureNode();
  ensurePackages();
  const { runSyncBench } = await import('./sync/run.mjs');
  await runSyncBench();
});
