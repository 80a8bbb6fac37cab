// `node bench/log-export.mjs [lines]`: one export of the query log, in a process with a heap limit of 64 MiB.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const folder = mkdtempSync(join(tmpdir(), 'burrow-bench-'));
try {
  const build = await rolldown({
    input: fileURLToPath(new URL('log-export.ts', import.meta.url)),
    platform: 'node',
  });
  const { output } = await build.generate({ format: 'es' });
  const program = join(folder, 'log-export.mjs');
  writeFileSync(program, output[0].code);
  const { status } = spawnSync(
    process.execPath,
    ['--expose-gc', '--max-old-space-size=64', program, process.argv[2] ?? '1000000'],
    { stdio: 'inherit' },
  );
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
