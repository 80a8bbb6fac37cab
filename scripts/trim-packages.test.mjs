import { compare, hash } from 'bcryptjs';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { bundle, entries } from './bundle.mjs';
import { trimPackages } from './trim-packages.mjs';

const folder = mkdtempSync(join(tmpdir(), 'burrow-trim-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** bcryptjs as bundles of the browser have it. */
async function trimmed() {
  const plugin = trimPackages();
  const importer = join(import.meta.dirname, '../worker/passwords/run-job.ts');
  const id = plugin.resolveId('bcryptjs', importer) ?? '';
  const file = join(folder, 'bcryptjs.mjs');
  writeFileSync(file, plugin.load(id) ?? '');
  /** @type {typeof import('bcryptjs')} */
  const module = await import(/* @vite-ignore */ pathToFileURL(file).href);
  return module;
}

test('bcryptjs without its tables hashes as it does with them', async () => {
  const small = await trimmed();
  for (const password of ['', 'correct horse', 'pässwörd', 'x'.repeat(72)]) {
    const salt = small.genSaltSync(4);
    expect(small.hashSync(password, salt)).toBe(await hash(password, salt));
    expect(await compare(password, small.hashSync(password, 4))).toBe(true);
  }
});

test('a bundle of the worker holds of Dexie what opens a database, and no more', async () => {
  const { code, modules } = await bundle(entries.worker, { format: 'es', minify: false });
  expect(code).toContain('onupgradeneeded');
  for (const part of [
    'storagemutated-1',
    'class Collection',
    'class WhereClause',
    'S_ORIG',
    'CONSTRUCT',
  ])
    expect(code).not.toContain(part);
  expect(modules.filter((id) => id.includes('dexie'))).toHaveLength(1);
});

test('whoever else imports them gets them whole', () => {
  const importer = join(import.meta.dirname, '../bench/page/dexie.ts');
  expect(trimPackages().resolveId('dexie', importer)).toBeUndefined();
});
