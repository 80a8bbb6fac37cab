import type { MarkdownRenderer } from 'vitepress';
import { FAMILIES } from '../../src/reference/families.ts';

/** Group 1 is the query; the comment with its result follows. */
const EXAMPLE = /^([\s\S]*?)\n\/\/ [\s\S]*$/;

/** Examples that are executed with a token of the user Ada, because they are about the current user. */
const AS_ADA = new Set(
  FAMILIES.flatMap(({ docs }) => Object.values(docs)).flatMap(({ as, example }) =>
    as === 'ada' ? [example] : [],
  ),
);

/** Renders examples of the language reference as playgrounds, which readers can edit and run in the page. */
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
