import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ensurePackages, root } from './setup.mjs';

/** @type {string} */
let folder;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'burrow-setup-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** @param {string} version */
const lockOf = (version) => JSON.stringify({ packages: { 'node_modules/dexie': { version } } });

/**
 * A checkout that needs version 2 of a package, and whose node_modules is a link to that of another checkout.
 * @param {string} version installed there
 */
function linkedCheckout(version) {
  const checkout = join(folder, 'worktree');
  const packages = join(folder, 'main/node_modules');
  mkdirSync(join(packages, 'dexie'), { recursive: true });
  mkdirSync(checkout);
  writeFileSync(join(packages, '.package-lock.json'), lockOf(version));
  writeFileSync(join(checkout, 'package-lock.json'), lockOf('2.0.0'));
  symlinkSync(packages, join(checkout, 'node_modules'), 'dir');
  return { checkout, packages };
}

test('ensurePackages() does not install through a link to the packages of another checkout', () => {
  const { checkout, packages } = linkedCheckout('1.0.0');
  expect(() => ensurePackages(checkout)).toThrow(
    /^node_modules is a symbolic link to .*npm ci in the/,
  );
  expect(readdirSync(packages).sort()).toEqual(['.package-lock.json', 'dexie']);
});

test('ensurePackages() accepts linked packages that match package-lock.json', () => {
  expect(() => ensurePackages(linkedCheckout('2.0.0').checkout)).not.toThrow();
});

test('`npm run build` with outdated linked packages fails, and says what to run', () => {
  const { checkout } = linkedCheckout('1.0.0');
  cpSync(join(root, 'scripts'), join(checkout, 'scripts'), { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs'], {
    cwd: checkout,
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^\[burrow\] node_modules is a symbolic link to .*Run npm ci/);
  expect(readdirSync(checkout)).not.toContain('dist');
});

test.each(['start', 'test', 'site'])(
  'npm run %s lists its options when it gets an unknown one',
  (name) => {
    const script = join(root, 'scripts', `${name}.mjs`);
    const { status, stderr } = spawnSync(process.execPath, [script, '--prot', '5'], {
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^\[burrow\] Unknown option '--prot'\. Known options: --\w.*\.\n$/);
  },
);
