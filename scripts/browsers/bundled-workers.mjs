// Bundles each worker of browser tests into one file, as the package does: a worker has five hundred modules, which a page would otherwise
// request at each start.
import { join } from 'node:path';
import { bundle } from '../bundle.mjs';
import { root } from '../setup.mjs';

/** The worker's source file, if the URL is what vite makes of `new Worker(new URL(…))` in a test or a source file. @param {string} url */
function workerSource(url) {
  const { pathname, searchParams } = new URL(url, 'http://tests/');
  return searchParams.has('worker_file') && pathname.startsWith('/worker/')
    ? join(root, pathname)
    : undefined;
}

/** @returns {import('vite').Plugin} */
export const bundledWorkers = () => ({
  name: 'burrow:bundled-workers',
  configureServer(server) {
    /** Bundles by source file. @type {Map<string, Promise<string>>} */
    const made = new Map();
    server.watcher.on('change', () => made.clear());
    const codeOf = (/** @type {string} */ source) => {
      const code =
        made.get(source) ??
        bundle(source, { format: 'es', minify: false }).then((built) => built.code);
      made.set(source, code);
      return code;
    };
    server.middlewares.use((request, response, next) => {
      const source = workerSource(request.url ?? '/');
      if (source === undefined) return next();
      codeOf(source).then(
        (code) => response.setHeader('content-type', 'text/javascript').end(code),
        next,
      );
    });
  },
});
