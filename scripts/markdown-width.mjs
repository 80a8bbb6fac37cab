// `npm run format:markdown`: finds lines of prose in Markdown that are wider than 100 characters. With `--fix`, wraps them.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runMain } from './setup.mjs';
import { longLines, MARKDOWN_WIDTH, wrapMarkdown } from './wrap-markdown.mjs';

/** The project's Markdown files: tracked by Git, or untracked and not ignored, so without files of test runs or builds. */
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
