/** Unknown options of hooks are refused, because they would be ignored silently. */
import { expect, test } from 'vitest';
import { q, UsageError, type Client } from '../../index.ts';
import { burrowCollectionOptions } from '../tanstack.ts';
import { Mutation } from './mutation.ts';
import { pagesRequest } from './pages.ts';
import { Session } from './session.ts';
import { queriesOf } from './shared-queries.ts';

const client = { subscribe: () => () => undefined } as unknown as Client;
const notes = q.Documents(q.Collection('notes'));

test.each<[string, () => unknown, string]>([
  [
    'a query',
    () => queriesOf(client).find(q.Count(notes), { att: 'complete' } as object),
    '`att`. There are: at.',
  ],
  [
    'a query of pages',
    () => pagesRequest(notes, { sice: 20 } as object),
    '`sice`. There are: size, at, map.',
  ],
  [
    'a mutation',
    () => new Mutation(q.Now, { lable: 'Add' } as object),
    '`lable`. There are: label, data.',
  ],
])('%s with a misspelt option is refused', (_, use, sentence) => {
  expect(use).toThrow(UsageError);
  expect(use).toThrow(`There is no option ${sentence}`);
});

test('page sizes below 1 are refused', () => {
  for (const size of [0, -1])
    expect(() => pagesRequest(notes, { size })).toThrow(
      `The option \`size\` must be an integer from 1 to 100,000, but is ${size}.`,
    );
});

test('undefined options are the same as missing ones', () => {
  const queries = queriesOf(client);
  expect(queries.find(q.Count(notes), { at: undefined })).toBe(queries.find(q.Count(notes)));
  const options = { size: undefined, at: undefined, map: undefined };
  expect(pagesRequest(notes, options)?.text).toBe(pagesRequest(notes, {})?.text);
  expect(new Mutation(q.Now, {}).get().state).toBe('idle');
  expect(new Mutation(q.Now, { data: undefined }).get().state).toBe('idle');
});

const none = null as never;

test.each<[string, () => unknown, string]>([
  ['a query', () => queriesOf(client).find(q.Count(notes), none), 'null'],
  ['a query of pages', () => pagesRequest(notes, 20 as never), 'number'],
  ['a mutation', () => new Mutation(q.Now, 'Add' as never), 'string'],
  ['a session', () => new Session(undefined as never), 'undefined'],
  ['a collection of TanStack DB', () => burrowCollectionOptions(none), 'null'],
])('%s with options that are not an object is refused', (_, use, what) => {
  expect(use).toThrow(UsageError);
  expect(use).toThrow(`Options must be an object, not ${what}.`);
});

test('a query in the place of the function that returns it is refused', () => {
  for (const query of [q.Now(), undefined, 'Add']) {
    expect(() => new Mutation(query)).toThrow(UsageError);
    expect(() => new Mutation(query)).toThrow(
      'useMutation() takes a function that returns the query.',
    );
  }
});

test('`label` and `data` of a write must be functions', () => {
  const collection = q.Collection<object>('notes');
  for (const data of [{ from: 'the form' }, 5, 'text'] as never[]) {
    expect(() => new Mutation(q.Now, { data })).toThrow(
      'The option `data` must be a function of the arguments.',
    );
    for (const name of ['label', 'data'])
      expect(() => burrowCollectionOptions({ client, collection, [name]: data })).toThrow(
        `The option \`${name}\` must be a function of the changes.`,
      );
  }
});
