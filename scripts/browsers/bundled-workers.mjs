// Workers of browser tests, each as one file like in the package: it has five hundred modules, which a page would ask for at each start.
import { join } from 'node:path';
import { bundle } from '../bundle.mjs';
import { root } from '../setup.mjs';

/** What vite makes of `new Worker(new URL(…))` in a test or a source. @param {string} url */
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
    /** By their sources. @type {Map<string, Promise<string>>} */
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
