/** Runs the code of docs/inspector.md, which opens the inspector in two ways. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../in-process/testing.ts';
import type { Database } from '../src/index.ts';
import text from '../docs/inspector.md?raw';
import * as inspector from './inspector.ts';

const pieces = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);

/** Runs a piece as JavaScript, although its fence says `ts`. A module that is loaded already replaces the import. */
const run = (code: string, db: Database): void => {
  const program = code
    .replaceAll(/^import .*$/gm, '')
    .replace("await import('burrowdb/inspector')", 'inspector');
  // oxlint-disable-next-line typescript/no-implied-eval -- the document is ours
  const call = new Function('db', 'inspector', program) as (...given: readonly unknown[]) => void;
  call(db, inspector);
};

let db: Database;
beforeEach(async () => {
  db = await openDatabase();
});
afterEach(async () => {
  document.body.replaceChildren();
  await db.close();
});

const shown = () => document.querySelector('burrow-inspector')?.shadowRoot?.textContent;

test('the button of the first example opens the inspector', async () => {
  run(pieces[0] ?? '', db);
  expect(shown()).toBeUndefined();
  document.querySelector('button')?.click();
  await expect.poll(shown).toContain('Collections');
});

test('the custom element of the second example shows the inspector', async () => {
  run(pieces[1] ?? '', db);
  await expect.poll(shown).toContain('Collections');
  expect(pieces).toHaveLength(2);
});
