// `npm start`: builds the demo as users get it and serves it until Ctrl-C, with a hub for its page "Sync". `--dev` serves the sources with
// live reload; `--app-only` starts no hub.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  commandOptions,
  ensureNode,
  ensurePackages,
  root,
  runMain,
  say,
  SetupError,
} from './setup.mjs';

const options = commandOptions({
  port: { type: 'string', default: '4173' },
  host: { type: 'string', default: '127.0.0.1' },
  strictPort: { type: 'boolean', default: false },
  dev: { type: 'boolean', default: false },
  'hub-port': { type: 'string', default: '8444' },
  'hub-data': { type: 'string', default: join(root, 'burrow-demo') },
  'app-only': { type: 'boolean', default: false },
});

await runMain(async () => {
  ensureNode();
  ensurePackages();
  if (!existsSync(join(root, 'demo/index.html'))) {
    throw new SetupError('Cannot start the demo: this checkout has no demo/index.html.');
  }
  const starting = options['app-only'] ? Promise.resolve(undefined) : startHub();
  const app = await startApp(starting);
  const hub = await starting;
  say(`Demo: ${app.address} (stop with Ctrl-C)`);
  if (hub) say(`Hub of the demo: ${hub.url}, data in ${options['hub-data']}`);
  stopOnSignal(async () => {
    await Promise.all([app.close(), hub?.stop()]);
  });
});

/** The rest of the demo needs no hub, so a failed start is reported and the demo is served without it. */
async function startHub() {
  say('Starting a hub for the page "Sync".');
  try {
    const { startDemoHub } = await import('./demo-hub.mjs');
    return await startDemoHub({ data: options['hub-data'], port: Number(options['hub-port']) });
  } catch (error) {
    const [why] = (error instanceof SetupError ? error.message : String(error)).split('\n');
    say(
      `The hub did not start, so the page "Sync" is unavailable; everything else works. Reason: ${why}`,
    );
    return undefined;
  }
}

/** @param {Promise<import('./demo-hub.mjs').DemoHub | undefined>} starting */
async function startApp(starting) {
  const { build, createServer, preview } = await import('vite');
  const { hubGate } = await import('../demo/build/hub-gate.mjs');
  const configFile = join(root, 'vite.config.ts');
  const listen = {
    host: options.host,
    port: Number(options.port),
    strictPort: options.strictPort,
  };
  /** @type {import('vite').PreviewServer | import('vite').ViteDevServer} */
  let server;
  if (!options.dev) {
    say('Building the demo.');
    await build({ configFile, logLevel: 'warn' });
  }
  const plugins = [hubGate(await starting)];
  if (options.dev) {
    server = await createServer({ configFile, plugins, server: listen });
    await server.listen();
  } else {
    server = await preview({ configFile, plugins, preview: listen });
  }
  const urls = server.resolvedUrls;
  return { address: urls?.local[0] ?? urls?.network[0], close: () => server.close() };
}

/** @param {() => Promise<void>} stop */
function stopOnSignal(stop) {
  let isStopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => {
      // A second signal exits at once.
      if (isStopping) process.exit(1);
      isStopping = true;
      stop().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
}
