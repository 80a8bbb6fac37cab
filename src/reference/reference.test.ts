/**
 * The reference is generated from the table, the builders and the engine. `npm run docs` writes it, and these tests
 * fail when it is out of date.
 */
import { beforeAll, expect, test } from 'vitest';
import { q } from '../client/queries/builders.ts';
import { build } from '../../inspector/fql/build.ts';
import { wrapMarkdown } from '../../scripts/wrap-markdown.mjs';
import { lookup } from '../query/table.ts';
import { FAMILIES, isOwnForm } from './families.ts';
import { allForms, formNames } from './forms.ts';
import { LANGUAGE } from './language.ts';
import { differencesPage, familyPage, indexPage } from './markdown.ts';
import { SETUP } from './example-setup.ts';
import { answerOf, wireOf } from './testing/example-world.ts';

const root = new URL('../../', import.meta.url);
const file = (path: string): string => new URL(path, root).pathname;
/** Only for a hook that hangs: long enough that no slow machine reaches it. */
const HUNG_MS = 600_000;
const answers = new Map<string, string>();

beforeAll(async () => {
  for (const form of allForms()) answers.set(form.name, await answerOf(form));
}, HUNG_MS);

test('the table has exactly the 209 forms that the specification lists for version 4, and the documented own forms', () => {
  const listed = Object.values(LANGUAGE).flat();
  const own = [...formNames()].filter(isOwnForm);
  expect(listed).toHaveLength(209);
  expect(formNames()).toEqual(new Set([...listed, ...own]));
});

test('every form is documented on exactly the page that lists it', () => {
  for (const { file: page, docs } of FAMILIES) {
    const own = Object.keys(docs).filter(isOwnForm);
    expect(Object.keys(docs).sort()).toEqual([...(LANGUAGE[page] ?? []), ...own].sort());
  }
});

test('forms without a row of their own name the keys by which they are found', () => {
  for (const { name, variants } of allForms()) {
    const keys = (variants[0] ?? []).flatMap(({ key, optional }) => (optional ? [] : [key]));
    expect([name, lookup(new Map(keys.map((key) => [key, undefined])), '4') !== undefined]).toEqual(
      [name, true],
    );
  }
});

test('every builder is shown with exactly one form, except Bytes and Lambda', () => {
  const shown = allForms().flatMap(({ builders }) => builders.map((each) => each.split('(')[0]));
  expect(new Set([...shown, 'Bytes', 'Lambda'])).toEqual(new Set(Object.keys(q)));
  expect(shown).toHaveLength(Object.keys(q).length - 2);
});

test('every example uses the form it illustrates', () => {
  for (const { name, docs } of allForms()) {
    expect(JSON.stringify(wireOf(docs.example)), docs.example).toContain(`"${name}":`);
  }
});

test('only the examples of abort and key_from_secret fail', () => {
  const failed = [...answers].filter(([, answer]) => answer.startsWith('error '));
  expect(failed.map(([name]) => name)).toEqual(['abort', 'key_from_secret']);
});

test('every example with builders can be entered in the query panel', () => {
  for (const { docs } of allForms()) {
    if (docs.example.startsWith('{"')) continue;
    const typed: unknown = JSON.parse(JSON.stringify(build(docs.example).expression));
    const wire = docs.example.startsWith('[')
      ? { let: [], in: wireOf(docs.example) }
      : wireOf(docs.example);
    expect(typed).toEqual(wire);
  }
});

test.each(FAMILIES)('the page $file of docs/reference is up to date', async (family) => {
  await expect(wrapMarkdown(familyPage(family, answers))).toMatchFileSnapshot(
    file(`docs/reference/${family.file}.md`),
  );
});

test('docs/reference/README.md is up to date', async () => {
  await expect(wrapMarkdown(indexPage(SETUP))).toMatchFileSnapshot(
    file('docs/reference/README.md'),
  );
});

test('docs/reference/differences.md is up to date', async () => {
  await expect(wrapMarkdown(differencesPage())).toMatchFileSnapshot(
    file('docs/reference/differences.md'),
  );
});

test('docs/reference/forms.json, which the query panel reads, is up to date', async () => {
  const forms = allForms().map(({ name, builders, docs, family, errors }) => ({
    name,
    family: family.title,
    builders,
    summary: docs.summary,
    result: docs.result,
    errors: [...new Set(errors.map(([code]) => code))],
    example: docs.example,
    answer: answers.get(name),
  }));
  await expect(`${JSON.stringify(forms, undefined, 1)}\n`).toMatchFileSnapshot(
    file('docs/reference/forms.json'),
  );
});
