/** What a hook is given and does not know would be a wish that is silently not granted. */
import { expect, test } from 'vitest';
import { q, UsageError, type Client } from '../../index.ts';
import { Mutation } from './mutation.ts';
import { knownOptions } from './pages.ts';
import { queriesOf } from './shared-queries.ts';

const client = { subscribe: () => () => undefined } as unknown as Client;
const notes = q.Documents(q.Collection('notes'));

test.each<[string, () => unknown, string]>([
  [
    'a query',
    () => queriesOf(client).find(q.Count(notes), { att: 'complete' } as object),
    '`att`. There are: at.',
  ],
  ['pages', () => knownOptions({ sice: 20 } as object), '`sice`. There are: size, at.'],
  ['a mutation', () => new Mutation({ lable: 'Add' }), '`lable`. There are: label, data.'],
])('%s with a misspelt option is refused', (_, use, sentence) => {
  expect(use).toThrow(UsageError);
  expect(use).toThrow(`There is no option ${sentence}`);
});

test('options that are left out, or undefined, are none', () => {
  const queries = queriesOf(client);
  expect(queries.find(q.Count(notes), { at: undefined })).toBe(queries.find(q.Count(notes)));
  const options = { size: undefined, at: undefined };
  expect(knownOptions(options)).toBe(options);
  expect(new Mutation({}).get().state).toBe('idle');
});
