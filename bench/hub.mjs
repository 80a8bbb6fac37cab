// `npm run bench:hub [-- seconds]`: the hub beside a bare server with the same database, in turns; seconds of one measurement.
// `npm run bench:hub -- pages [documents]`: a page of a large collection; `-- export [lines]`: one export of the query log.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { bundleHub } from '../scripts/bundle-hub.mjs';
import { ensureNode, ensurePackages, root, runMain } from '../scripts/setup.mjs';

const KINDS = ['pages', 'export'];
/** A million documents are not stored in minutes on every machine. */
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
