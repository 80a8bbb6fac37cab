// `npm run imports`: checks which rooms may import which, by .dependency-cruiser.cjs.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const rooms = [
  'src',
  'worker',
  'hub',
  'hosts',
  'bundlers',
  'in-process',
  'inspector',
  'demo',
  'e2e',
  'bench',
  'ops',
  'site',
  'scripts',
].filter((room) => existsSync(join(root, room)));

const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs'),
    '--config',
    '.dependency-cruiser.cjs',
    ...rooms,
  ],
  { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
);
process.exitCode = status ?? 1;
