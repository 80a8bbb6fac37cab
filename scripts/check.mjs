// `npm run check`: everything but the tests. `npm run check -- types lint` runs only those steps.
import { spawnSync } from 'node:child_process';
import { ensureNode, ensurePackages, root, runMain, say } from './setup.mjs';

const steps = /** @type {const} */ ([
  ['types', 'types'],
  ['lint', 'lint'],
  ['format', 'format:check'],
  ['imports', 'imports'],
  ['dead code', 'dead-code'],
  ['build', 'build'],
  ['size', 'size'],
  ['package', 'package'],
  ['site', 'site'],
  ['audit', 'audit'],
]);

await runMain(async () => {
  ensureNode();
  ensurePackages();
  const wanted = process.argv.slice(2);
  /** @type {string[]} */
  const outcomes = [];
  for (const [name, script] of steps) {
    if (wanted.length > 0 && !wanted.includes(script) && !wanted.includes(name)) continue;
    say(`Check: ${name} (npm run ${script})`);
    const startedMs = performance.now();
    const { status } = spawnSync('npm', ['run', '--silent', script], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      shell: process.platform === 'win32',
    });
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    outcomes.push(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name} (${seconds} s)`);
    if (status !== 0) process.exitCode = 1;
  }
  console.log(`\n${outcomes.join('\n')}`);
});
