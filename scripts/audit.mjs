// `npm run audit`: fails if bundled packages have known vulnerabilities. Passes with a message if the registry gives no answer.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, say } from './setup.mjs';

/** @typedef {{ severity: string; via: (string | { title: string })[] }} Vulnerability */

const { stdout } = spawnSync('npm', ['audit', '--json'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 1 << 28,
  shell: process.platform === 'win32',
});
/** @type {{ vulnerabilities?: Record<string, Vulnerability> }} */
const answer = stdout.startsWith('{') ? JSON.parse(stdout) : {};
/** @type {{ components: { name: string }[] }} */
const { components } = JSON.parse(readFileSync(join(root, 'dist/sbom.cdx.json'), 'utf8'));
if (answer.vulnerabilities) {
  const bundled = new Set(components.map(({ name }) => name));
  for (const [name, { severity, via }] of Object.entries(answer.vulnerabilities)) {
    if (!bundled.has(name)) continue;
    const titles = via.map((each) => (typeof each === 'string' ? each : each.title));
    console.error(`${name}: ${severity}: ${titles.join('; ')}`);
    process.exitCode = 1;
  }
} else say('The registry answers no audit: known vulnerabilities were not looked up.');
