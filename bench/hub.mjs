// `npm run bench:hub [-- seconds]`: the hub beside a bare server with the same database, in turns. Seconds: of one measurement.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { bundleHub } from '../scripts/bundle-hub.mjs';
import { ensureNode, ensurePackages, root, runMain } from '../scripts/setup.mjs';

await runMain(async () => {
  ensureNode();
  ensurePackages();
  const folder = join(root, `node_modules/.cache/burrow/hub-bench-${process.pid}`);
  try {
    await bundleHub(folder, { packages: 'outside' });
    for (const [input, name] of /** @type {const} */ ([
      ['bench/hub/floor.ts', 'floor.mjs'],
      ['bench/hub/main.ts', 'bench.mjs'],
    ])) {
      const build = await rolldown({
        input: join(root, input),
        platform: 'node',
        external: /^(?![./]|[A-Za-z]:)/,
      });
      const { output } = await build.generate({ format: 'es' });
      writeFileSync(join(folder, name), output[0].code);
    }
    const { status } = spawnSync(
      process.execPath,
      [join(folder, 'bench.mjs'), folder, process.argv[2] ?? '2'],
      { stdio: 'inherit', timeout: 600_000 },
    );
    process.exitCode = status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
