// `npm run types`: each room under its own libraries, so no room can use a global its host lacks.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './setup.mjs';

const rooms = ['engine', 'page', 'worker', 'hub', 'in-process', 'demo', 'tests', 'tools'];

/** tsc ends with this when a room has no file yet: nothing to check is no failure. */
const NO_INPUTS = 'error TS18003';

for (const room of rooms) {
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/typescript/bin/tsc'),
      '-p',
      `tsconfig.${room}.json`,
      '--pretty',
      'false',
    ],
    { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (status === 0 || stdout.startsWith(NO_INPUTS)) continue;
  console.error(`types of ${room}:\n${stdout}`);
  process.exitCode = 1;
}
