// `npm run format:markdown`: prose in Markdown that is wider than 100 characters. With `--fix` it is wrapped.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runMain } from './setup.mjs';
import { longLines, MARKDOWN_WIDTH, wrapMarkdown } from './wrap-markdown.mjs';

const SKIPPED = new Set(['node_modules', 'dist', 'demo-dist', 'out', 'rivals']);

/** @param {string} folder @returns {string[]} */
const markdownIn = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : markdownIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });

await runMain(async () => {
  const isFixing = process.argv.includes('--fix');
  for (const path of markdownIn('.')) {
    const text = readFileSync(join(root, path), 'utf8');
    if (isFixing) {
      const wrapped = wrapMarkdown(text);
      if (wrapped !== text) writeFileSync(join(root, path), wrapped);
      continue;
    }
    for (const line of longLines(text)) {
      console.error(`${path}:${line}: wider than ${MARKDOWN_WIDTH} characters`);
      process.exitCode = 1;
    }
  }
  if (process.exitCode === 1) console.error('Run npm run format to wrap these lines.');
});
