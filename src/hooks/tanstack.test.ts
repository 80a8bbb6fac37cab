import { expect, test } from 'vitest';
import { q } from '../index.ts';
import { burrowCollectionOptions } from './tanstack.ts';

test('an option that does not exist is refused: without its query a collection shows everything', () => {
  const options = { client: {} as never, collection: q.Collection('notes'), qeury: q.Now() };
  expect(() => burrowCollectionOptions(options)).toThrow(
    'There is no option `qeury`. There are: client, collection, query, label, data.',
  );
});
