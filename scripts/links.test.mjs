// Links in documents lead to existing files, and to headings that these files have.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { anchorOf } from './anchors.mjs';
import { root } from './setup.mjs';

const LINK = /\[(?:[^\][]|\[[^\]]*\])*\]\(([^)\s]+)\)/g;
const HEADING = /^#{1,6} (.+)$/gm;
const FENCE = /^( *)```[\s\S]*?^\1```$/gm;

const inFolder = (/** @type {string} */ folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(root, folder, name));

const documents = [
  ...readdirSync(root)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(root, name)),
  ...['docs', 'examples', 'bench/results', 'src', 'worker', 'hub'].flatMap(inFolder),
];

/** The text without code blocks, in which brackets are not links. @param {string} path */
const textOf = (path) => readFileSync(path, 'utf8').replaceAll(FENCE, '').replaceAll('\r', '');

/** @param {string} path */
const anchorsOf = (path) =>
  new Set([...textOf(path).matchAll(HEADING)].map(([, text = '']) => anchorOf(text)));

test('links in documents lead to existing files and headings', () => {
  const dead = documents.flatMap((path) =>
    [
      ...textOf(path)
        .replaceAll(/`[^`\n]*`/g, (code) => '`'.repeat(code.length))
        .matchAll(LINK),
    ].flatMap(([, target = '']) => {
      if (/^(?:https?:|mailto:)/.test(target)) return [];
      const [file = '', anchor] = target.split('#');
      const found = file === '' ? path : join(dirname(path), decodeURI(file));
      const leads =
        existsSync(found) &&
        (anchor === undefined || !statSync(found).isFile() || anchorsOf(found).has(anchor));
      return leads ? [] : [`${relative(root, path)}: ${target}`];
    }),
  );
  expect(dead).toEqual([]);
});

test('docs/index.md links an answer to each of fourteen everyday questions', () => {
  const rows = [...textOf(join(root, 'docs/index.md')).matchAll(/^\| (.+\?) \| (.+) \|$/gm)];
  expect(rows.map(([, question]) => question)).toHaveLength(14);
  for (const [, question, answer = ''] of rows) {
    const targets = [...answer.matchAll(LINK)].map(([, target = '']) => target.split('#')[0] ?? '');
    expect(targets, question).not.toEqual([]);
    // The previous test checks that the links resolve.
    for (const target of targets) expect(textOf(join(root, 'docs', target))).toMatch(/^# .+/m);
  }
});
