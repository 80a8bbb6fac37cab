/** `burrowdb/esbuild`: an esbuild plugin that writes the worker's file beside the bundle and puts its URL into the page's code. */
import { readFileSync } from 'node:fs';
import { pagePath, withWorkerUrl, workerPath } from './worker-file.ts';

/** The parts of esbuild's plugin API that this plugin uses. */
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

/** In formats other than `esm`, esbuild leaves `import.meta.url` empty: the build would succeed, and the page would fail at run time. */
const WRONG_FORMAT =
  'The worker of burrowdb is found by import.meta.url: set the option format to "esm", and load the built file by <script type="module">.';

/**
 * Creates the plugin, for `plugins` in esbuild's options. esbuild writes the worker's file into the output folder, and the page loads it
 * from there. The option `format` must be `'esm'`: with any other format the build fails with an error that says so.
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
