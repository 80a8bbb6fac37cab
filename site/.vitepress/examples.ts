import type { MarkdownRenderer } from 'vitepress';

const EXAMPLE = /^([\s\S]*?)\n\/\/ [\s\S]*$/;

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
    const query = EXAMPLE.exec(token.content)?.[1] ?? token.content;
    return `${shown}<Playground query="${markdown.utils.escapeHtml(query.trim())}" />`;
  };
}
