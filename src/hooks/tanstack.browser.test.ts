/** Collections of TanStack DB over databases in memory, one of them with a hub. */
import { createCollection, createLiveQueryCollection, eq, type Collection } from '@tanstack/db';
import { afterEach, expect, expectTypeOf, test } from 'vitest';
import { createNetwork, openDatabase, openHub } from '../../in-process/testing.ts';
import { q, type Client, type Database } from '../index.ts';
import { burrowCollectionOptions, newId, type BurrowItem } from './tanstack.ts';

interface Todo {
  readonly text: string;
  readonly done: boolean;
  readonly list?: string;
  readonly place?: { readonly town?: string; readonly street?: string };
}
interface List {
  readonly name: string;
}

const todos = q.Collection<Todo>('todos');
const lists = q.Collection<List>('lists');

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function openTodos(): Promise<{ db: Database; admin: Client }> {
  const db = await openDatabase();
  ends.push(() => db.close());
  const admin = db.client();
  await admin.query(q.CreateCollection({ name: 'todos' }));
  await admin.query(q.CreateCollection({ name: 'lists' }));
  return { db, admin };
}

function cleanedUp<C extends { cleanup(): Promise<void> }>(collection: C): C {
  ends.push(() => collection.cleanup());
  return collection;
}

const collectionOf = (client: Client) =>
  cleanedUp(createCollection(burrowCollectionOptions({ client, collection: todos })));

const textsOf = (collection: Collection<BurrowItem<Todo>, string>): string[] =>
  collection.toArray.map(({ text }) => text).toSorted();

const storedTexts = async (client: Client): Promise<string[]> => {
  const { data } = await client.query(
    q.Map(q.Paginate(q.Documents(todos)), (ref) => q.Select(['data', 'text'], q.Get(ref))),
  );
  return data.toSorted();
};

test('a collection has the documents, and receives changes made elsewhere', async () => {
  const { admin } = await openTodos();
  const { ref } = await admin.query(q.Create(todos, { data: { text: 'one', done: false } }));
  const collection = collectionOf(admin);
  await collection.preload();
  expectTypeOf(collection.get('1')?.text).toEqualTypeOf<string | undefined>();
  expect(collection.get(ref.id)).toMatchObject({ id: ref.id, text: 'one', done: false });
  await admin.query(q.Update(ref, { data: { text: 'two' } }));
  await expect.poll(() => collection.get(ref.id)?.text).toBe('two');
  await admin.query(q.Create(todos, { data: { text: 'three', done: true } }));
  await expect.poll(() => textsOf(collection)).toEqual(['three', 'two']);
  await admin.query(q.Delete(ref));
  await expect.poll(() => textsOf(collection)).toEqual(['three']);
});

test('a live query joins two collections', async () => {
  const { admin } = await openTodos();
  const home = await admin.query(q.Create(lists, { data: { name: 'home' } }));
  const add = (text: string, list: string) =>
    admin.query(q.Create(todos, { data: { text, done: false, list } }));
  await add('sweep', home.ref.id);
  const todo = collectionOf(admin);
  const list = cleanedUp(
    createCollection(burrowCollectionOptions({ client: admin, collection: lists })),
  );
  const joined = cleanedUp(
    createLiveQueryCollection((query) =>
      query
        .from({ todo })
        .innerJoin({ list }, (row) => eq(row.todo.list, row.list.id))
        .select((row) => ({ text: row.todo.text, name: row.list.name })),
    ),
  );
  await joined.preload();
  const shown = () => joined.toArray.map(({ text, name }) => `${name}: ${text}`).toSorted();
  expect(shown()).toEqual(['home: sweep']);
  await add('dust', home.ref.id);
  await add('nowhere', '1');
  await expect.poll(shown).toEqual(['home: dust', 'home: sweep']);
  await admin.query(q.Update(home.ref, { data: { name: 'house' } }));
  await expect.poll(shown).toEqual(['house: dust', 'house: sweep']);
});

test('an insert, an update and a delete are visible at once, without flicker, and are stored', async () => {
  const { admin } = await openTodos();
  const collection = collectionOf(admin);
  await collection.preload();
  const seen: string[] = [];
  collection.subscribeChanges((changes) => {
    for (const { type, value } of changes) seen.push(`${type} ${value.text}`);
  });
  const id = newId();
  const inserted = collection.insert({ id, text: 'a', done: false, place: { town: 'Oslo' } });
  expect(textsOf(collection)).toEqual(['a']);
  await inserted.isPersisted.promise;
  expect(await storedTexts(admin)).toEqual(['a']);
  expect(textsOf(collection)).toEqual(['a']);

  const updated = collection.update(id, (draft) => {
    Object.assign(draft, { text: 'b', place: { street: 'Main' } });
  });
  expect(textsOf(collection)).toEqual(['b']);
  await updated.isPersisted.promise;
  const { data } = await admin.query(q.Get(q.Ref(todos, id)));
  expect(data).toEqual({ text: 'b', done: false, place: { street: 'Main' } });
  expect(textsOf(collection)).toEqual(['b']);

  const deleted = collection.delete(id);
  expect(textsOf(collection)).toEqual([]);
  await deleted.isPersisted.promise;
  expect(await storedTexts(admin)).toEqual([]);
  expect(textsOf(collection)).toEqual([]);
  // No item came back or was removed in between. A stored row may be reported as an update without a change.
  expect(seen.filter((each, at) => each !== seen[at - 1]).slice(-1)).toEqual(['delete b']);
  expect(seen.filter((each) => !each.startsWith('update'))).toEqual(['insert a', 'delete b']);
});

test('an update writes only changed fields: a change elsewhere to another field stays', async () => {
  const { admin } = await openTodos();
  const { ref } = await admin.query(q.Create(todos, { data: { text: 'one', done: false } }));
  const collection = collectionOf(admin);
  await collection.preload();
  const elsewhere = admin.query(q.Update(ref, { data: { done: true } }));
  const updated = collection.update(ref.id, (draft) => {
    Object.assign(draft, { text: 'two' });
  });
  await Promise.all([elsewhere, updated.isPersisted.promise]);
  await expect.poll(() => collection.get(ref.id)).toMatchObject({ text: 'two', done: true });
});

test('items inserted together are stored in one transaction, and rolled back if it fails', async () => {
  const { admin } = await openTodos();
  const { ref } = await admin.query(q.Create(todos, { data: { text: 'there', done: true } }));
  const collection = cleanedUp(
    createCollection(
      burrowCollectionOptions({
        client: admin,
        collection: todos,
        query: q.Filter(
          q.Select(
            'data',
            q.Map(q.Paginate(q.Documents(todos)), (each) => q.Get(each)),
          ),
          (todo) => q.Not(q.Select(['data', 'done'], todo)),
        ),
      }),
    ),
  );
  await collection.preload();
  // The second item has the id of a document that the query does not show.
  const both = collection.insert([
    { id: '1', text: 'first', done: false },
    { id: ref.id, text: 'taken', done: false },
  ]);
  expect(textsOf(collection)).toEqual(['first', 'taken']);
  await expect(both.isPersisted.promise).rejects.toMatchObject({
    name: 'BadRequest',
    code: 'instance already exists',
  });
  expect(textsOf(collection)).toEqual([]);
  expect(await storedTexts(admin)).toEqual(['there']);
});

test('a collection has the status `error` while its live query fails', async () => {
  const { admin } = await openTodos();
  const notYet = q.Collection<Todo>('later');
  const collection = cleanedUp(
    createCollection(burrowCollectionOptions({ client: admin, collection: notYet })),
  );
  await expect(collection.preload()).rejects.toMatchObject({ code: 'invalid ref' });
  expect(collection.status).toBe('error');
  await admin.query(q.CreateCollection({ name: 'later' }));
  await expect.poll(() => collection.status).toBe('ready');
});

test('a document that the query returns twice is one item', async () => {
  const { admin } = await openTodos();
  const { ref } = await admin.query(q.Create(todos, { data: { text: 'one', done: false } }));
  const query = q.Map([1, 2], (each) => q.Do(each, q.Get(ref)));
  const collection = cleanedUp(
    createCollection(burrowCollectionOptions({ client: admin, collection: todos, query })),
  );
  await collection.preload();
  expect(textsOf(collection)).toEqual(['one']);
});

test('newId() returns unique, increasing ids', () => {
  const ids = Array.from({ length: 10_000 }, () => BigInt(newId()));
  expect(ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? 0n))).toBe(true);
  expect(ids.every((id) => id < 2n ** 63n)).toBe(true);
});

test('a query that returns a page with a next page is an error', async () => {
  const { admin } = await openTodos();
  for (const text of ['one', 'two'])
    await admin.query(q.Create(todos, { data: { text, done: false } }));
  const query = q.Map(q.Paginate(q.Documents(todos), { size: 1 }), (ref) => q.Get(ref));
  const collection = cleanedUp(
    createCollection(burrowCollectionOptions({ client: admin, collection: todos, query })),
  );
  await expect(collection.preload()).rejects.toThrow('must show all of its documents');
});

/** A client that counts its open subscriptions. */
function countedClient(admin: Client) {
  const live = { now: 0, most: 0 };
  const subscribe = (...call: Parameters<Client['subscribe']>) => {
    live.now++;
    live.most = Math.max(live.most, live.now);
    const stop = admin.subscribe(...call);
    return () => {
      live.now--;
      stop();
    };
  };
  return { live, client: Object.create(admin, { subscribe: { value: subscribe } }) as Client };
}

test('many concurrent writes share one repeated query', async () => {
  const { admin } = await openTodos();
  const { live, client } = countedClient(admin);
  const collection = collectionOf(client);
  await collection.preload();
  const texts = Array.from({ length: 40 }, (_, at) => String(at)).toSorted();
  await Promise.all(
    texts.map((text) => {
      const inserted = collection.insert({ id: newId(), text, done: false });
      return inserted.isPersisted.promise;
    }),
  );
  expect(textsOf(collection)).toEqual(texts);
  expect([live.now, live.most]).toEqual([1, 2]);
});

test('cleanup() ends the subscription, and the collection can be used again', async () => {
  const { admin } = await openTodos();
  const { live, client } = countedClient(admin);
  const collection = collectionOf(client);
  await collection.preload();
  await collection.insert({ id: newId(), text: 'one', done: false }).isPersisted.promise;
  expect(live.now).toBe(1);
  await collection.cleanup();
  expect(live.now).toBe(0);
  await collection.preload();
  expect([live.now, textsOf(collection)]).toEqual([1, ['one']]);
});

test('a write to a copy is stored offline, and a refused write is undone and listed', async () => {
  const hub = await openHub();
  ends.push(() => hub.close());
  const admin = hub.client();
  await admin.query(q.CreateCollection({ name: 'users' }));
  await admin.query(q.CreateCollection({ name: 'todos' }));
  const user = q.Ref(q.Collection('users'), '1');
  const password = 'secret';
  await admin.query(q.Create(user, { credentials: { password } }));
  const actions = { read: true, write: true, create: true, create_with_id: true };
  await admin.query(
    q.CreateRole({
      name: 'member',
      membership: { resource: q.Collection('users') },
      privileges: [{ resource: q.Collection('todos'), actions }],
    }),
  );
  const { secret: key } = await admin.query(q.CreateKey({ role: 'client' }));
  const network = createNetwork();
  const db = await openDatabase('copy', { network });
  ends.push(() => db.close());
  const login = { user, password, key };
  const sync = await db.sync({ url: hub.url, login, sets: [q.Documents(todos)] });
  await sync.whenSynced();
  const collection = cleanedUp(
    createCollection(
      burrowCollectionOptions({
        client: sync.client,
        collection: todos,
        label: ([change]) => `${change?.type} “${change?.item.text}”`,
        data: (changes) => changes.map(({ item }) => item.id),
      }),
    ),
  );
  await collection.preload();
  network.offline();
  const [kept, taken] = [newId(), newId()];
  await collection.insert({ id: kept, text: 'kept', done: false }).isPersisted.promise;
  await collection.insert({ id: taken, text: 'mine', done: false }).isPersisted.promise;
  expect(textsOf(collection)).toEqual(['kept', 'mine']);
  await admin.query(q.Create(q.Ref(todos, taken), { data: { text: 'theirs', done: true } }));
  network.online();
  await sync.whenSettled();
  await expect.poll(() => textsOf(collection)).toEqual(['kept', 'theirs']);
  expect(await sync.writes.list({ states: ['refused'] })).toMatchObject([
    { label: 'insert “mine”', data: [taken], error: { code: 'instance already exists' } },
  ]);
});
