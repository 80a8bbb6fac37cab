// Bundles the page of the sync benchmark.
import { join } from 'node:path';
import { build } from 'vite';
import { browserAlias, workerFromSource } from '../../scripts/bundle.mjs';
import { trimPackages } from '../../scripts/trim-packages.mjs';
import { benchRoot, installRivals, namedModules, RIVALS } from '../host/build.mjs';

/** @type {Readonly<Record<string, string>>} */
export const contenderFiles = {
  burrow: join(benchRoot, 'sync/page/burrow-relaxed.ts'),
  'burrow-strict': join(benchRoot, 'sync/page/burrow-strict.ts'),
  pouchdb: join(RIVALS, 'sync-pouchdb.ts'),
  rxdb: join(RIVALS, 'sync-rxdb.ts'),
};

/** @param {readonly string[]} contenders */
export async function buildSyncPage(contenders) {
  if (contenders.some((name) => !name.startsWith('burrow'))) installRivals();
  const outDir = join(benchRoot, 'out/sync-page');
  const files = Object.fromEntries(
    contenders.map((name) => {
      const file = contenderFiles[name];
      if (file === undefined) throw new Error(`There is no contender ${name}.`);
      return [name, file];
    }),
  );
  await build({
    root: join(benchRoot, 'sync/page'),
    configFile: false,
    logLevel: 'warn',
    base: './',
    // PouchDB imports Node's `events`, which bundlers must provide.
    resolve: { alias: { ...browserAlias, events: join(RIVALS, 'node_modules/events/events.js') } },
    plugins: [namedModules('virtual:sync-contenders', files), workerFromSource(), trimPackages()],
    worker: { format: 'es', plugins: () => [workerFromSource(), trimPackages()] },
    build: { target: 'es2022', outDir, emptyOutDir: true, chunkSizeWarningLimit: 10_000 },
  });
  return outDir;
}
