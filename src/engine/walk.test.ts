/**
 * Checks the walk for newcomers at the end of ARCHITECTURE.md: its files exist, and the query executes the files of the engine that it
 * names.
 */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { coll, create, doc, EngineWorld, obj, type Query } from './testing/engine-world.ts';
import { filesExecuted, filesIn, root, walks } from './testing/walk.ts';

async function worldWithUsers(): Promise<EngineWorld> {
  const world = new EngineWorld();
  await world.ask({ create_collection: { object: { name: 'users' } } });
  await world.ask(create(doc('users', 1), undefined, { credentials: obj({ password: 'pw' }) }));
  await world.ask(create(doc('users', 2)));
  await world.ask(create(doc('users', 3)));
  return world;
}

const QUERIES: Readonly<Record<string, Query>> = {
  'The password of a `Login`': {
    login: doc('users', 1),
    params: { object: { password: 'pw' } },
  },
  'The cursor of a `Paginate`': {
    paginate: { documents: coll('users') },
    size: 1,
    after: [doc('users', 2)],
  },
  'The data of a `Create`': {
    create: coll('users'),
    params: { object: { data: { object: { name: 'heron' } } } },
  },
};

test('every file of the walk exists, and the stated number of files is right', () => {
  expect([...walks.keys()]).toEqual([...Object.keys(QUERIES), 'A `submit()`']);
  for (const [title, part] of walks) {
    const files = filesIn(part);
    for (const file of files) expect(existsSync(new URL(file, root)), file).toBe(true);
    expect([title, files.length]).toEqual([title, Number(/(\d+) files\./.exec(part)?.[1])]);
  }
});

test.each(Object.entries(QUERIES))(
  '%s executes the engine files that the walk names',
  async (title, query) => {
    const world = await worldWithUsers();
    const executed = await filesExecuted(() => world.ask(query));
    const named = filesIn(walks.get(title) ?? '').filter((file) => /^src\/(?!client\/)/.test(file));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((file) => !executed.has(file))).toEqual([]);
  },
);
