import { createCollection } from '@tanstack/db';
import { expect, test } from 'vitest';
import { Ref, UsageError, q, type BurrowError, type Client, type Observer } from '../index.ts';
import { burrowCollectionOptions } from './tanstack.ts';
import { changesBetween } from './tanstack/changes.ts';

test('an option that does not exist is refused: a misspelt `query` would return everything', () => {
  const options = { client: {} as never, collection: q.Collection('notes'), qeury: q.Now() };
  expect(() => burrowCollectionOptions(options)).toThrow(
    'There is no option `qeury`. There are: client, collection, query, label, data.',
  );
});

test('an update sends members that are named like those of every JavaScript object', () => {
  const item = (text: string) => JSON.parse(text) as Record<string, unknown>;
  const after = '{"constructor":"x","__proto__":{"a":1,"toString":2}}';
  expect(JSON.stringify(changesBetween({}, item(after)))).toBe(after);
  expect(JSON.stringify(changesBetween(item(after), item('{"__proto__":{"a":1}}')))).toBe(
    '{"constructor":null,"__proto__":{"toString":null}}',
  );
});

const notes = q.Collection('notes');

test.each<[string, unknown]>([
  ['undefined, as before a login', undefined],
  ['a promise', Promise.resolve({})],
  ['a database', { client: () => ({}) }],
])('a client that is %s is refused', (_, client) => {
  expect(() => burrowCollectionOptions({ client: client as Client, collection: notes })).toThrow(
    new UsageError('The option `client` must be a client: `db.client()`, or `sync.client`.'),
  );
});

/** A collection over a client whose answers the test gives. */
const openCollection = () => {
  const asked: Observer<unknown>[] = [];
  const client = {
    query: () => Promise.resolve(),
    subscribe: (_: unknown, observer: Observer<unknown>) => {
      asked.push(observer);
      return () => undefined;
    },
  } as unknown as Client;
  const options = burrowCollectionOptions<{ title?: string }>({ client, collection: notes });
  const collection = createCollection({ ...options, startSync: true });
  const answer = (value: unknown) => asked.at(-1)?.next(value, { partial: [], from: 'device' });
  const end = (error: BurrowError) => {
    asked.at(-1)?.error?.(error);
    asked.at(-1)?.closed?.(error);
  };
  return { collection, asked, answer, end };
};

const aHeron = { ref: new Ref('1', new Ref('notes')), data: { title: 'a heron' }, ts: 1 };

test.each<[string, unknown]>([
  ['texts', ['a heron']],
  ['objects without refs', [{ title: 'a heron' }]],
  ['null', null],
  ['a number', 5],
  ['a page of refs', { data: [aHeron.ref] }],
])('a query that returns %s is an error, and a write does not wait for it', async (_, value) => {
  const { collection, asked, answer } = openCollection();
  answer(value);
  expect(collection.status).toBe('error');
  await expect(collection.preload()).rejects.toThrow('must answer documents');
  answer([aHeron]);
  expect(collection.toArray).toMatchObject([{ id: '1', title: 'a heron' }]);
  const saved = collection.update('1', (item) => void (item.title = 'two herons'));
  await expect.poll(() => asked.length).toBe(2);
  answer(value);
  await expect(saved.isPersisted.promise).resolves.toBeDefined();
});

test('a collection is empty after its database is locked or closed', () => {
  const { collection, answer, end } = openCollection();
  answer([aHeron]);
  expect(collection.size).toBe(1);
  end(new UsageError('The database is locked.'));
  expect(collection.size).toBe(0);
  expect(collection.status).toBe('error');
});
