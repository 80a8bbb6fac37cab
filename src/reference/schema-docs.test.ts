/** Runs the code of docs/schema.md in order. scripts/snippets.test.mjs checks that it compiles. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../in-process/testing.ts';
import { q } from '../client/queries/builders.ts';
import type { Expr } from '../client/queries/values.ts';
import { defineSchema } from '../schema/define-schema.ts';
import { migrate } from '../schema/migrate.ts';
import { EngineWorld } from '../engine/testing/engine-world.ts';

const text = readFileSync(new URL('../../docs/schema.md', import.meta.url), 'utf8');
const snippets = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);

interface Admin {
  query(expression: Expr): Promise<unknown>;
}
type Run = (admin: Admin, db: { client(): Admin }, ...names: readonly unknown[]) => unknown;

test('the code of docs/schema.md runs', async () => {
  expect(snippets.length).toBeGreaterThan(7);
  const world = new EngineWorld();
  const admin: Admin = { query: (expression) => world.ask(expression) };
  for (const code of snippets) {
    // Code with imports is a program of its own, so it gets its own database.
    const isProgram = code.startsWith('import ');
    const database = isProgram ? await openDatabase() : undefined;
    const used = database?.client() ?? admin;
    const body = code.replaceAll(/^import .*$/gm, '');
    // oxlint-disable-next-line typescript/no-implied-eval -- the document is ours
    const run = new Function(
      'admin',
      'db',
      'q',
      'z',
      'defineSchema',
      'migrate',
      `return (async () => {${body}})()`,
    ) as Run;
    await run(used, { client: () => used }, q, z, defineSchema, migrate);
    await database?.close();
  }
});
