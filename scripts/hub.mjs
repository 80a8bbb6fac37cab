// `npm run hub -- --port 8443`: the hub, from this checkout. Everything after `--` goes to `burrow hub`; another command, to `burrow`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureHubPackages } from './hub-packages.mjs';
import { ensureNode, runMain } from './setup.mjs';

const COMMANDS = new Set([
  'hub',
  'key',
  'dump',
  'load',
  'move',
  'import',
  'help',
  '--version',
  '-V',
]);

await runMain(async () => {
  ensureNode();
  ensureHubPackages();
  const { bundleHub, hubFolder } = await import('./bundle-hub.mjs');
  await bundleHub(hubFolder, { packages: 'outside' });
  const given = process.argv.slice(2);
  if (!COMMANDS.has(given[0] ?? '')) process.argv.splice(2, 0, 'hub');
  await import(pathToFileURL(join(hubFolder, 'main.mjs')).href);
});
