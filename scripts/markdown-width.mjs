// `npm run format:markdown`: prose in Markdown that is wider than 100 characters. With `--fix` it is wrapped.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runMain } from './setup.mjs';
import { longLines, MARKDOWN_WIDTH, wrapMarkdown } from './wrap-markdown.mjs';

/** The Markdown of the project: what Git keeps or would keep, not what a test run or a build left there. */
const markdown = () =>
  execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '-z', '*.md'],
    { cwd: root, encoding: 'utf8' },
  )
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)));

await runMain(async () => {
  const isFixing = process.argv.includes('--fix');
  for (const path of markdown()) {
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
