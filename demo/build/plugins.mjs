// Vite plugins of the demo's build: the city data, the list of files to cache for offline use, the Content-Security-Policy.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cityFiles } from './city-data.mjs';

const DATA = 'data/';

/**
 * Serves the city files at `data/`, and adds them to the build.
 * @returns {import('vite').Plugin}
 */
const cityData = () => {
  /** @type {Map<string, string> | undefined} */
  let made;
  const files = () => (made ??= cityFiles());
  return {
    name: 'demo:city-data',
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const [, name] = /^\/data\/([\w.-]+)/.exec(request.url ?? '') ?? [];
        const source = name && files().get(name);
        if (!source) return next();
        response.setHeader('content-type', 'application/json').end(source);
      });
    },
    generateBundle() {
      if (this.environment.config.isWorker) return;
      for (const [name, source] of files()) {
        this.emitFile({ type: 'asset', fileName: `${DATA}${name}`, source });
      }
    },
  };
};

const NOT_KEPT = /^(?:data\/|service-worker\.js$|precache\.json$)|\.map$/;

/**
 * Writes `precache.json`, the list of files that the service worker caches. City files are left out: after the import, the cities are in
 * the database.
 * @returns {import('vite').Plugin}
 */
const precacheList = () => ({
  name: 'demo:precache-list',
  apply: 'build',
  enforce: 'post',
  writeBundle({ dir }) {
    if (this.environment.config.isWorker || !dir) return;
    const names = readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
      .map((name) => name.replaceAll('\\', '/'))
      .filter((name) => !NOT_KEPT.test(name))
      .sort();
    const hash = createHash('sha256');
    for (const name of names) hash.update(name).update(readFileSync(join(dir, name)));
    const files = ['./', ...names.filter((name) => name !== 'index.html')];
    const list = { version: hash.digest('hex').slice(0, 16), files };
    writeFileSync(join(dir, 'precache.json'), `${JSON.stringify(list, undefined, 2)}\n`);
  },
});

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self' blob:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types burrow demo',
].join('; ');

/**
 * Adds a Content-Security-Policy without exceptions. Applies to builds only, because Vite's live reload injects inline styles.
 * @returns {import('vite').Plugin}
 */
const securityPolicy = () => ({
  name: 'demo:security-policy',
  apply: 'build',
  transformIndexHtml: () => [
    {
      tag: 'meta',
      attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY },
      injectTo: 'head-prepend',
    },
  ],
});

export const demoPlugins = () => [cityData(), precacheList(), securityPolicy()];
