// `npm start`: the demo, built as users get it and served until Ctrl-C. `--dev` serves the sources with live reload.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureNode, ensurePackages, root, runMain, say, SetupError } from './setup.mjs';

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '4173' },
    host: { type: 'string', default: '127.0.0.1' },
    strictPort: { type: 'boolean', default: false },
    dev: { type: 'boolean', default: false },
  },
});

await runMain(async () => {
  ensureNode();
  ensurePackages();
  if (!existsSync(join(root, 'demo/index.html'))) {
    throw new SetupError('There is no demo/index.html in this checkout: nothing to start.');
  }
  const listen = {
    host: options.host,
    port: Number(options.port),
    strictPort: options.strictPort,
  };
  const { build, createServer, preview } = await import('vite');
  const configFile = join(root, 'vite.config.ts');

  /** @type {import('vite').PreviewServer | import('vite').ViteDevServer} */
  let server;
  if (options.dev) {
    server = await createServer({ configFile, server: listen });
    await server.listen();
  } else {
    say('Building the demo.');
    await build({ configFile, logLevel: 'warn' });
    server = await preview({ configFile, preview: listen });
  }
  say(
    `The demo runs at ${server.resolvedUrls?.local[0] ?? server.resolvedUrls?.network[0]} (Ctrl-C stops it).`,
  );
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(0));
});
