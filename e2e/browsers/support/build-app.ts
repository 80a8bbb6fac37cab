/** Builds the package once, and puts it beside the page that tests drive. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundle, entries } from '../../../scripts/bundle.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the built app. */
    readonly appFolder: string;
  }
}

export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'burrow-browsers-'));
  const [index, worker, serviceWorker] = await Promise.all([
    bundle(entries.index, { format: 'es', minify: false }),
    bundle(entries.worker, { format: 'iife', minify: true }),
    bundle(entries.serviceWorker, { format: 'iife', minify: true }),
    cp(join(import.meta.dirname, '../page'), folder, { recursive: true }),
  ]);
  await writeFile(join(folder, 'burrow.js'), index.code);
  await writeFile(join(folder, 'worker.js'), worker.code);
  await writeFile(join(folder, 'service-worker.js'), serviceWorker.code);
  await writeFile(join(folder, 'importing.js'), "importScripts('/service-worker.js')");
  const files = ['./', 'main.js', 'burrow.js', 'worker.js'];
  await writeFile(join(folder, 'precache.json'), JSON.stringify({ version: '1', files }));
  provide('appFolder', folder);
  return () => rm(folder, { recursive: true });
}
