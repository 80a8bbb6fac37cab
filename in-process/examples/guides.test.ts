/** The examples in the documentation are the tests beside this one, word for word. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

const guides = readdirSync(new URL('../../docs', import.meta.url))
  .filter((name) => name.endsWith('.md'))
  .map((name) => read(`../../docs/${name}`));

test.each(readdirSync(new URL('.', import.meta.url)).filter((name) => name !== 'guides.test.ts'))(
  '%s is quoted in exactly one guide',
  (name) => {
    const fenced = `\n${read(name)}\`\`\`\n`;
    expect(guides.filter((guide) => guide.includes(fenced))).toHaveLength(1);
  },
);
