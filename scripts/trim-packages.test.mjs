import { compare, hash } from 'bcryptjs';
import { createParser } from 'eventsource-parser';
import * as fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { bundle, entries } from './bundle.mjs';
import { trimPackages } from './trim-packages.mjs';

const folder = mkdtempSync(join(tmpdir(), 'burrow-trim-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Imports a package as browser bundles contain it. @param {string} name @returns {Promise<unknown>} */
async function trimmed(name) {
  const plugin = trimPackages();
  const importer = join(import.meta.dirname, '../worker/main.ts');
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, plugin.load(plugin.resolveId(name, importer) ?? '') ?? '');
  return import(/* @vite-ignore */ pathToFileURL(file).href);
}

test('bcryptjs without its tables computes the same hashes', async () => {
  const small = /** @type {typeof import('bcryptjs')} */ (await trimmed('bcryptjs'));
  for (const password of ['', 'correct horse', 'pässwörd', 'x'.repeat(72)]) {
    const salt = small.genSaltSync(4);
    expect(small.hashSync(password, salt)).toBe(await hash(password, salt));
    expect(await compare(password, small.hashSync(password, 4))).toBe(true);
  }
});

test('the trimmed eventsource-parser finds the same events as the original, in any chunks', async () => {
  const small = /** @type {typeof import('eventsource-parser')} */ (
    await trimmed('eventsource-parser')
  );
  const piece = fc.constantFrom(
    'data',
    'event',
    'id',
    'retry',
    'da',
    ':',
    ': ',
    ' ',
    'x',
    'ä',
    '\0',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    'data: x\n',
    'data:y\r\n',
    'event: poke\n',
    ': still here\n\n',
  );
  const chunks = fc.array(fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')));
  fc.assert(
    fc.property(chunks, (texts) => {
      const [found, expected] = [small, { createParser }].map((parsers) => {
        /** @type {unknown[]} */
        const events = [];
        const parser = parsers.createParser({
          onEvent: ({ event, data }) => events.push({ event, data }),
        });
        for (const text of texts) parser.feed(text);
        parser.feed('\n\n');
        return events;
      });
      expect(found).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});

test('the bundle of the worker contains only the part of Dexie that opens a database', async () => {
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

test('trimPackages() does not trim a package for other importers', () => {
  const importer = join(import.meta.dirname, '../bench/page/dexie.ts');
  expect(trimPackages().resolveId('dexie', importer)).toBeUndefined();
});
