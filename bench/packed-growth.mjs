// `node bench/packed-growth.mjs [documents]`: grows a packed store in memory to this many documents (1,000,000 by default), checks its
// limits, and measures its times.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const folder = mkdtempSync(join(tmpdir(), 'burrow-bench-'));
try {
  const build = await rolldown({
    input: fileURLToPath(new URL('packed-growth.ts', import.meta.url)),
    platform: 'node',
  });
  const { output } = await build.generate({ format: 'es' });
  const program = join(folder, 'packed-growth.mjs');
  writeFileSync(program, output[0].code);
  const documents = process.argv[2] ?? '1000000';
  const { status } = spawnSync(process.execPath, ['--expose-gc', program, documents], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
