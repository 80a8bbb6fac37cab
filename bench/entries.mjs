// `node bench/entries.mjs [documents]`: one page with this many index entries (50,000 by default) in Node: CPU time of engine and page.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const folder = mkdtempSync(join(tmpdir(), 'burrow-bench-'));
try {
  const build = await rolldown({
    input: fileURLToPath(new URL('entries.ts', import.meta.url)),
    platform: 'node',
  });
  const { output } = await build.generate({ format: 'es' });
  const program = join(folder, 'entries.mjs');
  writeFileSync(program, output[0].code);
  const documents = process.argv[2] ?? '50000';
  const { status } = spawnSync(process.execPath, ['--expose-gc', program, documents], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
