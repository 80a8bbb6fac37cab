// `npm run site`: builds the documentation site into site/dist, and fails if a link is dead. `-- --dev` serves it with live reload,
// `-- --preview` serves the build.
import { join } from 'node:path';
import { commandOptions, ensureNode, ensurePackages, root, runMain, say } from './setup.mjs';

const options = commandOptions({
  dev: { type: 'boolean', default: false },
  preview: { type: 'boolean', default: false },
  port: { type: 'string', default: '4180' },
});

await runMain(async () => {
  ensureNode();
  ensurePackages();
  const folder = join(root, 'site');
  const { build, createServer, serve } = await import('vitepress');
  const { makePages } = await import('../site/pages.mjs');
  const port = Number(options.port);
  if (!options.preview) {
    say('Collecting the pages.');
    await makePages();
  }
  if (options.dev) {
    const server = await createServer(folder, { port });
    await server.listen();
    say(`The site: http://localhost:${port}/ (stop with Ctrl-C)`);
    return;
  }
  if (!options.preview) {
    await build(folder);
    say('Built: site/dist');
  } else {
    await serve({ root: folder, port });
    say(`The site: http://localhost:${port}/ (stop with Ctrl-C)`);
  }
});
