import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { HUB_PACKAGES } from '../scripts/hub-packages.mjs';
import { buildTestHub, removeTestHub } from './testing/hub-process.ts';

afterAll(removeTestHub);

test('HUB_PACKAGES lists the packages that a hub of a checkout imports, and its bundler', async () => {
  const folder = await buildTestHub();
  const imported = new Set(['rolldown']);
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.mjs'))) {
    const text = await readFile(join(folder, file), 'utf8');
    const imports = text.matchAll(
      /(?:^import|^(?:import|export|\})[^\n;]*\bfrom|\bimport\(|\bresolve\()\s*["']([@\w][\w./:-]*)["']/gm,
    );
    for (const [, name = ''] of imports) {
      if (name.startsWith('node:')) continue;
      imported.add(
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      );
    }
  }
  expect([...imported].toSorted()).toEqual(HUB_PACKAGES.toSorted());
});
