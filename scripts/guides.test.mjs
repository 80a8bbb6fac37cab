// Executes each guide from top to bottom and compares its output with the comments in its code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { isGuide, programOf, shownIn } from './guides.mjs';
import { root } from './setup.mjs';

const modules = import.meta.glob(['../docs/guides/*.md', '../docs/tour.md', '../docs/recipes.md']);

/** Formats a value as a console does. @param {unknown} value */
const shown = (value) =>
  typeof value === 'string' ? value : inspect(value, { breakLength: Infinity, depth: 5 });

test('every guide is executed by this test', () => {
  const guides = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name}`)
    .filter(isGuide);
  expect(Object.keys(modules).sort()).toEqual(guides.map((name) => `../${name}`).sort());
});

test.each(Object.entries(modules))(
  'the code of %s runs, and logs what its comments say',
  async (name, run) => {
    /** @type {Map<number, string[]>} */
    const logged = new Map();
    vi.stubGlobal('logged', (/** @type {number} */ line, /** @type {unknown[]} */ ...values) =>
      logged.set(line, [...(logged.get(line) ?? []), values.map(shown).join(' ')]),
    );
    await run();
    const text = readFileSync(join(root, 'scripts', name), 'utf8');
    const said = shownIn(programOf(text));
    expect(said.size, 'lines that say what they log').toBeGreaterThan(0);
    const found = new Map([...logged].map(([line, values]) => [line, values.join(', then ')]));
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(said));
  },
);
