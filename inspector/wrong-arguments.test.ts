/** Wrong arguments of the inspector: the error says what to pass, and nothing is shown. */
import { expect, test } from 'vitest';
import { openFake } from '../src/client/testing/fake-worker.ts';
import { UsageError, type Database } from '../src/index.ts';
import { BurrowInspector, mountInspector, type InspectorOptions } from './inspector.ts';

const NO_DATABASE = 'The inspector takes an open database: await openDatabase(…).';
const NO_CLIENT = 'The option `client` must be a client, such as `sync.client`.';
const NO_PARENT = 'The option `parent` must be an element.';
const NO_OPTIONS = 'The options of the inspector are { client, parent }.';

const wrong: readonly unknown[] = [undefined, null, {}, 'notes', Promise.resolve()];

test.each(wrong)('mountInspector() refuses %s as a database', (database) => {
  expect(() => mountInspector(database as Database)).toThrow(new UsageError(NO_DATABASE));
});

test.each<[string, unknown]>([
  [NO_CLIENT, { client: {} }],
  [NO_CLIENT, { client: Promise.resolve() }],
  [NO_PARENT, { parent: '#root' }],
  [NO_PARENT, { parent: null }],
  [NO_OPTIONS, '#root'],
  [NO_OPTIONS, { parnet: {} }],
])('mountInspector() throws: %s', async (sentence, options) => {
  const { db } = await openFake();
  expect(() => mountInspector(db, options as InspectorOptions)).toThrow(new UsageError(sentence));
  await db.close();
});

test('the element refuses invalid properties and keeps its database', async () => {
  const { db } = await openFake();
  const element = new BurrowInspector();
  element.database = db;
  expect(() => (element.database = {} as Database)).toThrow(new UsageError(NO_DATABASE));
  expect(() => (element.client = {} as never)).toThrow(new UsageError(NO_CLIENT));
  expect(element.database).toBe(db);
  // A framework may set the properties before it has a database.
  element.client = null as never;
  element.database = null as never;
  await db.close();
});
