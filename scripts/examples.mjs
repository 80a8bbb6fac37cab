// `npm run examples`: installs, builds, serves and uses the apps in examples/. `npm run examples -- esbuild next` selects two of them.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureBrowser, ensureNode, ensurePackages, root, runMain } from './setup.mjs';

await runMain(async () => {
  ensureNode();
  ensurePackages();
  const browser = await ensureBrowser();
  const names = process.argv.slice(2);
  const chosen = names.length === 0 ? [] : ['--grep', ` (${names.join('|')})$`];
  const args = ['test', '--config', 'e2e/examples/playwright.config.ts', ...chosen];
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/@playwright/test/cli.js'), ...args],
    {
      cwd: root,
      env: { ...process.env, BURROW_CHROMIUM: browser },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  process.exitCode = status ?? 1;
});
