// `npm run release`: checks that this checkout is ready to be published. With `-- --publish`, in CI, publishes it with provenance.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOptions, root, runMain, say, SetupError } from './setup.mjs';

const values = commandOptions({ publish: { type: 'boolean' } });

/** @param {string} command @param {string[]} args */
function succeed(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0)
    throw new SetupError(`${command} ${args.join(' ')} failed: nothing is published.`);
}

await runMain(async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const dated = new RegExp(`^## ${version.replaceAll('.', '\\.')} — \\d{4}-\\d\\d-\\d\\d$`, 'm');
  if (!dated.test(changes))
    throw new SetupError(
      `CHANGELOG.md has no "## ${version} — YYYY-MM-DD": say what changed, and when.`,
    );
  const { stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (stdout !== '') throw new SetupError(`There are changes that are not committed:\n${stdout}`);
  succeed('npm', ['test']);
  succeed('npm', ['run', 'check']);
  const publish = ['publish', '--access', 'public', '--provenance'];
  // Only CI can sign the provenance; elsewhere npm refuses to publish with it.
  if (values.publish) succeed('npm', publish);
  else say(`Ready. In CI: npm run release -- --publish (npm ${publish.join(' ')}).`);
});
