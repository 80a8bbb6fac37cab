// What the project's own lint rules report, and what they accept.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Reports of oxlint for a file with this text, with the rule enabled. */
async function reportsOf(/** @type {string} */ rule, /** @type {string} */ text) {
  const folder = await mkdtemp(join(tmpdir(), 'oxlint-burrow-'));
  try {
    const config = join(folder, '.oxlintrc.json');
    const jsPlugins = [join(root, 'scripts/oxlint-burrow.mjs')];
    const rules = { [`burrow/${rule}`]: 'error' };
    await writeFile(
      config,
      JSON.stringify({ categories: { correctness: 'off' }, jsPlugins, rules }),
    );
    await writeFile(join(folder, 'given.ts'), text);
    const { stdout } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/oxlint/bin/oxlint'), '-c', config, '--format=unix', folder],
      { encoding: 'utf8' },
    );
    return [...stdout.matchAll(/given\.ts:(\d+):/g)].map(([, line]) => Number(line));
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('keys-from-codec reports casts to Key', async () => {
  const text = [
    "const above = (last + '\\0') as Key;",
    'const other = <Key>text;',
    'const list = texts as readonly string[];',
    'const key: Key = keyAfter(last);',
    'const name = event.key as KeyName;',
  ].join('\n');
  expect(await reportsOf('keys-from-codec', text)).toEqual([1, 2]);
});

test('each-for-reads reports JavaScript loops whose body reads from the store', async () => {
  const text = [
    'refs.map((ref) => reader.row(ref));',
    'refs.filter((ref) => context.apply(lambda, ref));',
    'eachElement(refs, (ref) => reader.row(ref));',
    "refs.map((ref) => reader.row(ref, 'absent'));",
    'refs.map((ref) => ref.id);',
  ].join('\n');
  expect(await reportsOf('each-for-reads', text)).toEqual([1, 2]);
});

test('no-hidden-clock reports dates made from the current time', async () => {
  const text = ['new Date();', 'Date();', 'new Date(ts);'].join('\n');
  expect(await reportsOf('no-hidden-clock', text)).toEqual([1, 2]);
});

test('no-errors-at-load reports errors that are created outside of functions', async () => {
  const text = [
    "const gone = new Refusal('not_found', 'It is gone.');",
    "class A { static readonly reason = new TypeError('no'); }",
    "const make = () => new Error('no');",
    "class B { run() { throw new Error('no'); } }",
    'const first = new Map();',
  ].join('\n');
  expect(await reportsOf('no-errors-at-load', text)).toEqual([1, 2]);
});
