// What the demo's build adds to Vite's: the data of the cities, the list of files to keep offline, the security policy.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cityFiles } from './city-data.mjs';

const DATA = 'data/';

/**
 * The files of the cities, at `data/`.
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
 * `precache.json`: what the service worker keeps. Not the cities: once imported, they are in the database.
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
 * A Content-Security-Policy without exceptions. Only in what is built: Vite's live reload puts styles into the page.
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
