/** The site runs the examples in its pages. The tests check that their answers there are those of the reference. */
import { expect, test } from 'vitest';
import { answerOf } from '../../site/.vitepress/theme/playground-database.ts';
import forms from '../../docs/reference/forms.json' with { type: 'json' };
import { FAMILIES } from './families.ts';

const AS_ADA = new Set(
  FAMILIES.flatMap(({ docs }) => Object.entries(docs)).flatMap(([name, { as }]) =>
    as === 'ada' ? [name] : [],
  ),
);

test('each example with builders has the same answer on the site as in the reference', async () => {
  const answered: [name: string, answer: string][] = [];
  const shown = forms.filter(({ example }) => !example.startsWith('{"'));
  for (const { name, example } of shown)
    answered.push([name, withoutTimes(await answerOf(example, AS_ADA.has(name)))]);
  expect(answered).toEqual(shown.map(({ name, answer }) => [name, withoutTimes(answer)]));
});

/** The answer without times, because the site's clock advances while the examples run. */
const withoutTimes = (answer: string): string => answer.replaceAll(/\bts: \d{16}\b/g, 'ts: …');
