// Bundles sources. Used by the build of the library, by the demo and by the browser tests.
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { trimPackages } from './trim-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

export const entries = {
  index: join(root, 'src/index.ts'),
  worker: join(root, 'worker/main.ts'),
  serviceWorker: join(root, 'worker/service-worker.ts'),
};

/** Entries of the package beside `index.js`, by name. They import `index.js`, and packages that the app has. */
export const besideIndex = {
  adopt: join(root, 'src/adopt/adopt.ts'),
  background: join(root, 'src/background/background.ts'),
  data: join(root, 'src/data/data.ts'),
  inspector: join(root, 'inspector/inspector.ts'),
  react: join(root, 'src/hooks/react.ts'),
  schema: join(root, 'src/schema/schema.ts'),
  solid: join(root, 'src/hooks/solid.ts'),
  svelte: join(root, 'src/hooks/svelte.ts'),
  tanstack: join(root, 'src/hooks/tanstack.ts'),
  vue: join(root, 'src/hooks/vue.ts'),
};

/** Plugins of bundlers. They are entries that run in Node and find the page's files beside them. */
export const plugins = {
  esbuild: join(root, 'bundlers/esbuild.ts'),
  rollup: join(root, 'bundlers/rollup.ts'),
};

/** Entries that have an engine inside, and all packages that they need. */
export const inProcess = {
  remote: join(root, 'in-process/remote.ts'),
  testing: join(root, 'in-process/testing.ts'),
};

/** Entries that run in Node only. `scripts/bundle-hub.mjs` puts them beside the threads that they start. */
export const inNode = {
  node: join(root, 'in-process/node.ts'),
};

/**
 * bcryptjs imports Node's `crypto`, which a browser does not have. Dexie's default entry imports its build for old browsers, and Dexie's
 * own minified modern build is smaller than the one that our bundler makes.
 */
export const browserAlias = {
  crypto: join(root, 'scripts/no-node-crypto.mjs'),
  dexie: join(root, 'node_modules/dexie/dist/modern/dexie.min.mjs'),
};

const WORKER_URL = /new URL\(\s*(['"])\.\/worker\.js\1\s*,\s*import\.meta\.url\s*,?\s*\)/g;

/**
 * The page's source refers to the worker as `./worker.js`, its place in the package. This plugin makes that worker/main.ts in a checkout.
 * @returns {import('vite').Plugin}
 */
export const workerFromSource = () => ({
  name: 'burrow:worker-from-source',
  enforce: 'pre',
  transform(code, id) {
    const path = id.split('?')[0] ?? id;
    if (!path.startsWith(join(root, 'src/')) || !WORKER_URL.test(code)) return undefined;
    const source = relative(dirname(path), entries.worker).replaceAll('\\', '/');
    return {
      code: code.replaceAll(WORKER_URL, `new URL('${source}', import.meta.url)`),
      map: null,
    };
  },
});

/**
 * Imports the page's client from `./index.js`, for files beside it in the package.
 * @param {'inside' | 'outside'} packages whether packages are bundled
 * @returns {import('rolldown').Plugin}
 */
const pageFromIndex = (packages) => ({
  name: 'burrow:page-from-index',
  resolveId(source, importer) {
    if (!importer) return undefined;
    if (!source.startsWith('.'))
      return packages === 'outside' ? { id: source, external: true } : undefined;
    const isPage = join(dirname(importer), source) === entries.index;
    return isPage ? { id: './index.js', external: true } : undefined;
  },
});

/**
 * Bundles a file with everything that it imports.
 * @param {string} input
 * @param {{ format: 'es' | 'iife'; minify: boolean; besideIndex?: 'packages inside' | 'packages outside' }} options
 * @returns {Promise<{ code: string; modules: readonly string[]; map: import('rolldown').SourceMap }>} with the ids of the bundled modules
 */
export async function bundle(input, { format, minify, besideIndex: beside }) {
  const ownPage = beside && [pageFromIndex(beside === 'packages inside' ? 'inside' : 'outside')];
  const build = await rolldown({
    input,
    platform: 'browser',
    plugins: [...(ownPage ?? []), trimPackages()],
    resolve: { alias: browserAlias },
    transform: { target: 'es2022' },
    optimization: { inlineConst: true },
    onLog(level, log, print) {
      // An unresolved import is an error: the bundle would not work.
      print(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log);
    },
  });
  try {
    const { output } = await build.generate({
      format,
      codeSplitting: false,
      // Modules are strict anyway; a script needs the directive.
      strict: format === 'iife',
      minify,
      sourcemap: 'hidden',
      comments: { legal: true, annotation: !minify, jsdoc: false },
    });
    // The other output is the source map.
    if (output.filter(({ type }) => type === 'chunk').length !== 1) {
      throw new Error(
        `${relative(root, input)} must be bundled into one file, but was split into ${output.map((file) => file.fileName).join(', ')}`,
      );
    }
    const [{ code, moduleIds, map }] = output;
    if (!map) throw new Error('The bundler made no source map.');
    return { code, modules: moduleIds, map };
  } finally {
    await build.close();
  }
}

/**
 * Serves the service worker beside the demo, at `/service-worker.js`, as an app that uses the package would.
 * @returns {import('vite').Plugin}
 */
export const serviceWorkerBeside = () => ({
  name: 'burrow:service-worker',
  configureServer(server) {
    server.middlewares.use((request, response, next) => {
      if (request.url?.split('?')[0] !== '/service-worker.js' || !existsSync(entries.serviceWorker))
        return next();
      bundle(entries.serviceWorker, { format: 'iife', minify: false }).then(
        ({ code }) => response.setHeader('content-type', 'text/javascript').end(code),
        next,
      );
    });
  },
  async generateBundle() {
    if (this.environment.config.isWorker || !existsSync(entries.serviceWorker)) return;
    const { code } = await bundle(entries.serviceWorker, { format: 'iife', minify: true });
    this.emitFile({ type: 'asset', fileName: 'service-worker.js', source: code });
  },
});
