// `npm run abuse [-- --only <words>] [--seconds n] [--at hub|page] [--store PGlite|PostgreSQL]`: attacks the database of a page in
// Chromium, then a hub over PGlite and a hub over PostgreSQL, one attack after the other, while an innocent client uses the database.
// Prints a table and, if no attack was left out, writes it to bench/results/ABUSE.md. Exits with 1 when an attack succeeds.
import { spawnSync } from 'node:child_process';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { parseArgs } from 'node:util';
import { bundleHub } from '../scripts/bundle-hub.mjs';
import { ensureNode, ensurePackages, root, runMain } from '../scripts/setup.mjs';

const TIME_MS = 3_600_000;
/** @type {import('node:util').ParseArgsConfig['options']} */
const options = {
  only: { type: 'string', default: '' },
  seconds: { type: 'string', default: '5' },
  at: { type: 'string', default: '' },
};

await runMain(async () => {
  ensureNode();
  ensurePackages();
  const folder = join(root, `node_modules/.cache/burrow/abuse-${process.pid}`);
  try {
    await bundleHub(folder, { packages: 'outside' });
    for (const name of ['main', 'innocent', 'attacker']) {
      const build = await rolldown({
        input: join(root, `bench/abuse/${name}.ts`),
        platform: 'node',
        external: /^(?![./]|[A-Za-z]:)/,
      });
      const { output } = await build.generate({ format: 'es' });
      writeFileSync(join(folder, name === 'main' ? 'abuse.mjs' : `${name}.mjs`), output[0].code);
    }
    copyFileSync(join(root, 'bench/abuse/probe.mjs'), join(folder, 'probe.mjs'));
    const { values } = parseArgs({ options, strict: false });
    if (values.at !== 'hub') {
      const { attackPage } = await import('./abuse/page.mjs');
      const wanted = { only: String(values.only), seconds: Number(values.seconds) };
      writeFileSync(join(folder, 'page.json'), JSON.stringify(await attackPage(wanted)));
    }
    const { status } = spawnSync(
      process.execPath,
      [
        join(folder, 'abuse.mjs'),
        folder,
        join(root, 'bench/results/ABUSE.md'),
        ...process.argv.slice(2),
      ],
      { stdio: 'inherit', timeout: TIME_MS },
    );
    process.exitCode = status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
