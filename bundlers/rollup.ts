/** `burrowdb/rollup`: a Rollup plugin that emits the worker's file beside the bundle and puts its URL into the page's code. */
import { readFileSync } from 'node:fs';
import { pagePath, withWorkerUrl, workerPath } from './worker-file.ts';

/** The parts of Rollup's plugin API that this plugin uses. */
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
 * Creates the plugin, for `plugins` in Rollup's configuration. Rollup emits the worker's file as an asset, and the page loads it from
 * there.
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
