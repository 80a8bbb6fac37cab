/** Builds the package and an app that uses it, and serves the app while tests run. */
import { createReadStream } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { build } from 'vite';
import { besideIndex, bundle, entries } from '../../scripts/bundle.mjs';

const root = join(import.meta.dirname, '../..');

/** Passes two locations to the tests in the environment: `BURROW_E2E_APP`, a URL, and `BURROW_E2E_PACKAGE`, a folder. */
export default async function serveApp(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'burrow-e2e-'));
  const built = join(folder, 'built');
  await installPackage(join(folder, 'node_modules/burrowdb'));
  await symlink(join(root, 'node_modules/faunadb'), join(folder, 'node_modules/faunadb'));
  await cp(join(root, 'e2e/page'), folder, { recursive: true });
  await build({ configFile: false, root: folder, logLevel: 'warn', build: { outDir: built } });
  for (const file of ['service-worker.js', 'worker.js'])
    await cp(join(folder, 'node_modules/burrowdb/dist', file), join(built, file));
  await writeFile(join(built, 'own-service-worker.js'), await ownServiceWorker());
  const server = await serveFolder(built);
  process.env['BURROW_E2E_APP'] = urlOf(server);
  process.env['BURROW_E2E_PACKAGE'] = folder;
  return async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  };
}

/** The service worker of an app that has its own, as docs/sync.md shows it. */
async function ownServiceWorker(): Promise<string> {
  const text = await readFile(join(root, 'docs/sync.md'), 'utf8');
  const [, code] = /```javascript\n([\s\S]*?)```/.exec(text) ?? [];
  if (code === undefined) throw new Error('docs/sync.md shows no service worker.');
  return code;
}

/** Installs the package as `npm install burrowdb` would. */
async function installPackage(folder: string): Promise<void> {
  const dist = join(folder, 'dist');
  await mkdir(dist, { recursive: true });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  const beside = Object.entries({
    adopt: besideIndex.adopt,
    background: besideIndex.background,
    data: besideIndex.data,
    inspector: besideIndex.inspector,
    schema: besideIndex.schema,
  });
  const [index, worker, serviceWorker, ...others] = await Promise.all([
    bundle(entries.index, { format: 'es', minify: false }),
    bundle(entries.worker, { format: 'iife', minify: true }),
    bundle(entries.serviceWorker, { format: 'iife', minify: true }),
    ...beside.map(([, entry]) =>
      bundle(entry, { format: 'es', minify: false, besideIndex: 'packages outside' }),
    ),
  ]);
  await writeFile(join(dist, 'index.js'), index.code);
  await writeFile(join(dist, 'worker.js'), worker.code);
  await writeFile(join(dist, 'service-worker.js'), serviceWorker.code);
  for (const [at, [name]] of beside.entries())
    await writeFile(join(dist, `${name}.js`), others[at]?.code ?? '');
}

function serveFolder(folder: string): Promise<Server> {
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://app/');
    const path = join(folder, normalize(pathname === '/' ? '/index.html' : pathname));
    void answer(path, response);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => resolve(server));
  });
}

async function answer(path: string, response: ServerResponse): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  const type = TYPES[extname(path)];
  if (!found?.isFile() || type === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no such file.');
    return;
  }
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' });
  createReadStream(path).pipe(response);
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html;charset=utf-8',
  '.js': 'text/javascript',
};

function urlOf(server: Server): string {
  const address = server.address();
  if (typeof address === 'object' && address !== null) return `http://127.0.0.1:${address.port}/`;
  throw new Error('The server of the app has no port.');
}
