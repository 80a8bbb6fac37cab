/** The code of docs/schema.md runs, in its order. That it compiles: scripts/snippets.test.mjs. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { q } from '../client/queries/builders.ts';
import { EngineWorld } from '../engine/testing/engine-world.ts';

const text = readFileSync(new URL('../../docs/schema.md', import.meta.url), 'utf8');
const snippets = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);

type Run = (admin: { query(expression: unknown): Promise<unknown> }, builders: typeof q) => unknown;

test('the code of docs/schema.md runs', async () => {
  expect(snippets.length).toBeGreaterThan(7);
  const world = new EngineWorld();
  const admin = { query: (expression: unknown) => world.ask(expression) };
  for (const code of snippets) {
    // oxlint-disable-next-line typescript/no-implied-eval -- the document is ours
    const run = new Function('admin', 'q', `return (async () => {${code}})()`) as Run;
    await run(admin, q);
  }
});
