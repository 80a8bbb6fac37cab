import type { MarkdownRenderer } from 'vitepress';
import { FAMILIES } from '../../src/reference/families.ts';

/** The query, before what it answers. */
const EXAMPLE = /^([\s\S]*?)\n\/\/ [\s\S]*$/;

/** Those about the current user. */
const AS_ADA = new Set(
  FAMILIES.flatMap(({ docs }) => Object.values(docs)).flatMap(({ as, example }) =>
    as === 'ada' ? [example] : [],
  ),
);

/** Examples of the language reference can be changed and run, in the page. */
export function examplesThatRun(markdown: MarkdownRenderer): void {
  const plain = markdown.renderer.rules.fence;
  markdown.renderer.rules.fence = (
    tokens,
    index,
    options,
    env: { relativePath?: string },
    self,
  ) => {
    const shown = plain?.(tokens, index, options, env, self) ?? '';
    const token = tokens[index];
    if (token?.info !== 'js' || !env.relativePath?.startsWith('reference/')) return shown;
    const query = EXAMPLE.exec(token.content)?.[1];
    if (query === undefined) return shown;
    const as = AS_ADA.has(query) ? ' is-ada' : '';
    return `${shown}<Playground query="${markdown.utils.escapeHtml(query.trim())}"${as} />`;
  };
}
