/** Wrong arguments of exports and imports: they are refused with a code, before anything is written. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../../in-process/testing.ts';
import { q, type Database } from '../index.ts';
import type { DataDatabase } from './ask.ts';
import type { DataSource } from './lines.ts';
import { exportDatabase, type ExportOptions } from './export.ts';
import { importDatabase, type ImportOptions } from './import.ts';

let db: Database;
beforeEach(async () => {
  db = await openDatabase();
  await db.client().query(q.CreateCollection({ name: 'notes' }));
});
afterEach(() => db.close());

const lines = '{"no":3,"title":"two frogs"}\n{"no":4,"title":"ein Frosch – grün"}\n';
const options = { format: 'jsonl', collection: 'notes', id: 'no' } as const;
const count = () => db.client().query(q.Count(q.Documents(q.Collection('notes'))));
const refusal = (sentence: string) => ({
  name: 'DataError',
  code: 'invalid_option',
  message: expect.stringContaining(sentence) as unknown,
});

test.each<[string, () => DataSource]>([
  ['text', () => lines],
  ['bytes', () => new TextEncoder().encode(lines)],
  ['a blob', () => new Blob([lines])],
  ['a stream', () => new Blob([lines]).stream()],
  ['what opens a stream', () => () => new Blob([lines]).stream()],
])('importDatabase() accepts %s', async (_, source) => {
  expect(await importDatabase(db, source(), options)).toMatchObject({ imported: 2 });
  expect(await count()).toBe(2);
});

test('importDatabase() accepts the bytes of an export', async () => {
  await importDatabase(db, lines, options);
  const bytes = new Uint8Array(await new Response(exportDatabase(db)).arrayBuffer());
  expect(await importDatabase(db, bytes)).toMatchObject({ same: 2 });
});

test.each<[string, unknown]>([
  ['undefined', undefined],
  ['null', null],
  ['5', 5],
  ['[object Response]', new Response('x')],
  ['[object Object]', () => ({})],
])('importDatabase() refuses %s as its source', async (shown, source) => {
  const refused = importDatabase(db, source as DataSource, options);
  await expect(refused).rejects.toMatchObject(refusal(`opens one, not ${shown}.`));
  expect(await count()).toBe(0);
});

test('importDatabase() refuses a stream of text', async () => {
  const text = new ReadableStream<string>({
    start(controller) {
      controller.enqueue(lines);
      controller.close();
    },
  });
  const refused = importDatabase(db, text as unknown as DataSource, options);
  await expect(refused).rejects.toMatchObject(refusal('a stream of bytes'));
  expect(await count()).toBe(0);
});

test.each<[unknown, string]>([
  [null, 'Options must be an object'],
  [{ collections: 'notes' }, '`collections` must be an array of names'],
  [{ colections: [] }, 'Did you mean `collections`?'],
  [{ zip: false }, 'There is no option `zip`. Did you mean `gzip`?'],
  [{ secret: 5 }, '`secret` must be of type string'],
  [{ secret: undefined }, '`secret` is empty: leave it out to use the root secret.'],
  [{ secret: null }, '`secret` is empty'],
  [{ secret: '' }, '`secret` is empty'],
  [{ signal: {} }, '`signal` must be an AbortSignal'],
  [{ onProgress: 5 }, '`onProgress` must be of type function'],
  [{ history: 'yes' }, '`history` must be of type boolean'],
  [{ history: 1 }, '`history` must be of type boolean'],
  [{ gzip: 0 }, '`gzip` must be of type boolean'],
])('exportDatabase() refuses %o at once', (wrong, sentence) => {
  expect(() => exportDatabase(db, wrong as ExportOptions)).toThrow(
    expect.objectContaining(refusal(sentence)),
  );
});

test.each<[unknown, string]>([
  [null, 'Options must be an object'],
  [{ ...options, onclash: 'skip' }, 'Did you mean `onClash`?'],
  [{ ...options, secret: undefined }, '`secret` is empty'],
  [{ ...options, id: null }, '`id` must be of type string'],
  [{ ...options, format: 'csv', delimiter: null }, '`delimiter` must be of type string'],
  [{ ...options, format: 'csv', columns: 'no' }, '`columns` must be of type object'],
  [{ ...options, format: 'csv', columns: null }, '`columns` must be of type object'],
  [{ ...options, signal: 'stop' }, '`signal` must be an AbortSignal'],
])('importDatabase() refuses %o', async (wrong, sentence) => {
  const refused = importDatabase(db, lines, wrong as ImportOptions);
  await expect(refused).rejects.toMatchObject(refusal(sentence));
  expect(await count()).toBe(0);
});

test.each(['no;title\n1;a heron\n', 'no\ttitle\n1\ta heron\n'])(
  'a table with another delimiter than the comma is not read as one column: %j',
  async (text) => {
    const csv = { format: 'csv', collection: 'notes' } as const;
    const name = text.slice(0, text.indexOf('\n'));
    await expect(importDatabase(db, text, csv)).rejects.toMatchObject(
      refusal(`\`delimiter\`: '${name}' has no comma.`),
    );
    expect(await count()).toBe(0);
    // With an explicit comma, the text is read as one column.
    await importDatabase(db, text, { ...csv, delimiter: ',' });
    expect(await count()).toBe(1);
  },
);

test('importDatabase() into a closed database fails with database_closed', async () => {
  const closed = await openDatabase();
  await closed.close();
  await expect(importDatabase(closed, lines, options)).rejects.toMatchObject({
    code: 'database_closed',
  });
});

const sentence = 'The database must be what openDatabase() or connect() returned.';

test.each(['undefined', 'a client'])(
  '%s is refused as a database for export and import',
  async (what) => {
    const given = (what === 'a client' ? db.client() : undefined) as unknown as DataDatabase;
    expect(() => exportDatabase(given)).toThrow(expect.objectContaining(refusal(sentence)));
    await expect(importDatabase(given, lines, options)).rejects.toMatchObject(refusal(sentence));
  },
);

test.each<[object, string]>([
  [{ collection: 'notes' }, 'There is no option `collection`. There are: secret, signal, format'],
  [{ format: 'export', id: 'no' }, 'There is no option `id`'],
  [{ ...options, columns: { no: 'int' } }, 'There is no option `columns`'],
  [{ ...options, delimiter: ';' }, 'There is no option `delimiter`'],
  [{ format: 'jsonl' }, '`collection` must be a name'],
  [{ format: 'csv', collection: q.Collection('notes') }, '`collection` must be a name'],
])('importDatabase() refuses options that do not fit the format: %o', async (wrong, sentence) => {
  const refused = importDatabase(db, lines, wrong);
  await expect(refused).rejects.toMatchObject(refusal(sentence));
  expect(await count()).toBe(0);
});
