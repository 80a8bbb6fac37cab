// `npm run hub -- --port 8443`: the hub, from this checkout. Options go to `burrow hub`; what begins with a command, to `burrow`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureHubPackages } from './hub-packages.mjs';
import { ensureNode, runMain } from './setup.mjs';

await runMain(async () => {
  ensureNode();
  ensureHubPackages();
  const { bundleHub, hubFolder } = await import('./bundle-hub.mjs');
  await bundleHub(hubFolder, { packages: 'outside' });
  const [first = '-'] = process.argv.slice(2);
  const isVersion = first === '--version' || first === '-V';
  if (first.startsWith('-') && !isVersion) process.argv.splice(2, 0, 'hub');
  await import(pathToFileURL(join(hubFolder, 'main.mjs')).href);
});
