import { expect, test } from 'vitest';
import { longLines, wrapMarkdown } from './wrap-markdown.mjs';

const words = Array.from({ length: 30 }, (_, at) => `word${at}`).join(' ');

test('wrapMarkdown() wraps prose and list items at 100 characters', () => {
  const wrapped = wrapMarkdown(`${words}\n\n- ${words}\n  1. ${words}\n`);
  expect(longLines(wrapped)).toEqual([]);
  expect(wrapped.replaceAll(/\s+/g, ' ')).toBe(`${words} - ${words} 1. ${words} `);
  const [, , , , item = '', more = ''] = wrapped.split('\n');
  expect(item).toMatch(/^- word0 /);
  expect(more).toMatch(/^ {2}word/);
});

test('wrapMarkdown() leaves tables, code, headings and short lines unchanged', () => {
  const text = [
    `| ${words} |`,
    `    ${words}`,
    `# ${words}`,
    '```',
    words,
    '```',
    'one\ntwo',
    `https://example.org/${words.replaceAll(' ', '-')}`,
  ].join('\n\n');
  expect(wrapMarkdown(text)).toBe(text);
  expect(longLines(text)).toEqual([]);
});

test('wrapMarkdown() breaks no line inside a code span, nor before text that would begin a list', () => {
  const start = 'a'.repeat(95);
  expect(wrapMarkdown(`${start} \`b c\` d`)).toBe(`${start}\n\`b c\` d`);
  expect(wrapMarkdown(`${start} 12 - 1. b`)).toBe(`${start} 12 - 1.\nb`);
});

test('longLines() returns the numbers of lines that are too wide', () => {
  expect(longLines(`# Title\n\n${words}\nshort\n`)).toEqual([3]);
});
