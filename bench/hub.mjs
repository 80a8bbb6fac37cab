// `npm run bench:hub [-- seconds]`: the hub compared with a bare server over the same database, interleaved; `seconds` per measurement.
// `npm run bench:hub -- pages [documents]`: a page of a large collection; `-- export [lines]`: one export of the query log.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { bundleHub } from '../scripts/bundle-hub.mjs';
import { ensureNode, ensurePackages, root, runMain } from '../scripts/setup.mjs';

const KINDS = ['pages', 'export'];
/** Time limit of the program: on some machines, storing a million documents takes more than minutes. */
const TIME_MS = 3_600_000;

await runMain(async () => {
  ensureNode();
  ensurePackages();
  const folder = join(root, `node_modules/.cache/burrow/hub-bench-${process.pid}`);
  const [first = '2', count] = process.argv.slice(2);
  const kind = KINDS.includes(first) ? first : 'main';
  const last = kind === 'main' ? first : count;
  try {
    await bundleHub(folder, { packages: 'outside' });
    for (const name of ['floor', kind]) {
      const build = await rolldown({
        input: join(root, `bench/hub/${name}.ts`),
        platform: 'node',
        external: /^(?![./]|[A-Za-z]:)/,
      });
      const { output } = await build.generate({ format: 'es' });
      writeFileSync(join(folder, name === 'floor' ? 'floor.mjs' : 'bench.mjs'), output[0].code);
    }
    const { status } = spawnSync(
      process.execPath,
      [
        ...(kind === 'export' ? ['--expose-gc', '--max-old-space-size=96'] : []),
        join(folder, 'bench.mjs'),
        folder,
        ...(last === undefined ? [] : [last]),
      ],
      { stdio: 'inherit', timeout: TIME_MS },
    );
    process.exitCode = status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
