// @ts-check
/**
 * Test kit: PGlite's thread on a disk that keeps only what was synced. `workerData.kept` is a copy of the folder `dataDir`, into
 * which a file is copied whenever it is synced: what would be left after a power failure.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { workerData } from 'node:worker_threads';

const { dataDir, kept } = workerData;
const { openSync } = fs;
/** @type {Map<number, string>} */
const paths = new Map();
fs.openSync = (path, ...rest) => {
  const file = openSync(path, ...rest);
  paths.set(file, String(path));
  return file;
};
for (const name of /** @type {const} */ (['fsyncSync', 'fdatasyncSync'])) {
  fs[name] = (file) => {
    const path = paths.get(file) ?? '';
    const copy = join(kept, relative(dataDir, path));
    const isFile = fs.fstatSync(file).isFile();
    fs.mkdirSync(isFile ? dirname(copy) : copy, { recursive: true });
    if (isFile) fs.copyFileSync(path, copy);
  };
}
syncBuiltinESMExports();
await import('../sql/pglite-thread.mjs');
