// `npm run hub -- --port 8443`: runs the hub from this checkout. Arguments are passed to `burrow hub`, or to `burrow` if they start with a
// command.
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
