/** `burrowdb/esbuild`: a plugin that puts the worker's file beside what esbuild builds, and its URL into the page's code. */
import { readFileSync } from 'node:fs';
import { pagePath, withWorkerUrl, workerPath } from './worker-file.ts';

/** What is used of esbuild's. */
interface EsbuildBuild {
  readonly initialOptions: { readonly format?: string };
  onResolve(options: { filter: RegExp }, resolve: () => { path: string; namespace: string }): void;
  onLoad(
    options: { filter: RegExp; namespace?: string },
    load: (file: { path: string }) => Loaded | undefined,
  ): void;
}

type Loaded =
  | { contents: string | Uint8Array; loader: 'js' | 'file' }
  | { errors: { text: string }[] };

export interface EsbuildPlugin {
  readonly name: string;
  setup(build: EsbuildBuild): void;
}

const WORKER = 'burrow-worker';

/** Of other formats esbuild makes code without `import.meta.url`: it would be built, and fail when it runs. */
const WRONG_FORMAT =
  'The worker of burrowdb is found by import.meta.url: set the option format to "esm", and load the built file by <script type="module">.';

/**
 * The plugin, for `plugins` among esbuild's options.
 * @example
 * const options = { entryPoints: ['src/main.js'], bundle: true, format: 'esm', outdir: 'dist', plugins: [burrow()] };
 */
export const burrow = (): EsbuildPlugin => ({
  name: 'burrow',
  setup(build) {
    build.onLoad({ filter: /[\\/]index\.js$/ }, ({ path }) => {
      if (path !== pagePath) return undefined;
      if (build.initialOptions.format !== 'esm') return { errors: [{ text: WRONG_FORMAT }] };
      const code = withWorkerUrl(
        readFileSync(path, 'utf8'),
        'new URL(worker_url, import.meta.url)',
      );
      return { contents: `import worker_url from '${WORKER}';${code}`, loader: 'js' };
    });
    build.onResolve({ filter: new RegExp(`^${WORKER}$`) }, () => ({
      path: workerPath,
      namespace: WORKER,
    }));
    build.onLoad({ filter: /./, namespace: WORKER }, () => ({
      contents: readFileSync(workerPath),
      loader: 'file',
    }));
  },
});
