/** `burrowdb/rollup`: a plugin that puts the worker's file beside what Rollup builds, and its URL into the page's code. */
import { readFileSync } from 'node:fs';
import { pagePath, withWorkerUrl, workerPath } from './worker-file.ts';

/** What is used of Rollup's. */
interface RollupContext {
  emitFile(file: { type: 'asset'; name: string; source: Uint8Array }): string;
}

export interface RollupPlugin {
  readonly name: string;
  transform(
    this: RollupContext,
    code: string,
    id: string,
  ): { readonly code: string; readonly map: null } | undefined;
}

/**
 * The plugin, for `plugins` in Rollup's configuration.
 * @example
 * const configuration = { input: 'src/main.js', output: { dir: 'dist', format: 'es' }, plugins: [burrow()] };
 */
export const burrow = (): RollupPlugin => ({
  name: 'burrow',
  transform(code, id) {
    if (id.split('?')[0] !== pagePath) return undefined;
    const source = readFileSync(workerPath);
    const file = this.emitFile({ type: 'asset', name: 'burrow-worker.js', source });
    const expression = `new URL(import.meta.ROLLUP_FILE_URL_${file})`;
    return { code: withWorkerUrl(code, expression), map: null };
  },
});
