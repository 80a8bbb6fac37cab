/** Wrong options of `defineSchema()` and `migrate()`, and integers that a JavaScript number cannot hold. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../../in-process/testing.ts';
import { q, UsageError, type Database } from '../index.ts';
import { defineSchema } from './define-schema.ts';
import { migrate, planMigration } from './migrate.ts';
import type { MigrateOptions } from './migrate-options.ts';
import type { DataStep } from './steps.ts';

let db: Database;
beforeEach(async () => {
  db = await openDatabase();
});
afterEach(() => db.close());

const notes = defineSchema({ collections: { notes: {} } });

test.each<[unknown, string]>([
  [undefined, 'Options must be an object'],
  [null, 'Options must be an object'],
  [{}, '`version` must be a whole number from 1'],
  [{ version: 0 }, '`version` must be a whole number from 1'],
  [{ version: 1.5 }, '`version` must be a whole number from 1'],
  [
    { version: '1' },
    '`version` must be a whole number from 1, and `steps` lead to versions up to it, but got "1".',
  ],
  [{ version: 1, steps: 5 }, '`steps` must be an object, but is 5.'],
  [{ version: 1, steps: { 2: q.Now() } }, '`steps` lead to versions up to it'],
  [{ version: 1, step: {} }, 'There is no option `step`. Did you mean `steps`?'],
])('migrate() refuses %o', async (options, sentence) => {
  const refused = migrate(db, notes, options as MigrateOptions);
  await expect(refused).rejects.toBeInstanceOf(UsageError);
  await expect(refused).rejects.toMatchObject({ description: expect.stringContaining(sentence) });
  expect(await db.client().query(q.Count(q.Collections()))).toBe(0);
});

test('defineSchema() and each() refuse unknown and invalid members', () => {
  const roles = { author: { privilages: {} } };
  const privileges = { colections: {} };
  for (const [definition, name] of [
    [null, 'Options must be an object'],
    [{ colections: {} }, 'collections'],
    [{ collections: {}, role: {} }, 'roles'],
    [{ collections: {}, roles }, 'privileges'],
    [{ collections: {}, roles: { author: { privileges } } }, 'collections'],
    [{ collections: { notes: { histroy_days: 4 } } }, 'history_days'],
    [{ collections: { notes: null } }, '`collections.notes` must be an object, but is null'],
    [{ collections: ['notes'] }, '`collections` must be an object, but is an array'],
    [{ collections: {}, indexes: 5 }, '`indexes` must be an object, but is 5'],
    [{ collections: {}, indexes: { all: { source: '_', uniq: true } } }, 'unique'],
    [{ collections: {}, functions: { f: { boddy: q.Query((x) => x) } } }, 'body'],
  ] as const) {
    const define = (): unknown => defineSchema(definition as never);
    expect(define).toThrow(UsageError);
    expect(define).toThrow(name);
  }
  for (const options of [null, { sizes: 5 }])
    expect(() => notes.each('notes', () => null, options as object)).toThrow(UsageError);
});

test.each<[unknown, string]>([
  [5, '`roles.author` must be an object, but is 5'],
  [{ privileges: null }, '`roles.author.privileges` must be an object, but is null'],
  [{ privileges: [] }, '`roles.author.privileges` must be an object, but is an array'],
  [{ privileges: { others: {} } }, '`roles.author.privileges.others` must be an array'],
  [{ privileges: { others: 'all' } }, '`roles.author.privileges.others` must be an array'],
  [{ privileges: { others: [5] } }, '`roles.author.privileges.others.0` must be an object'],
  [{ privileges: { indexes: 'all' } }, '`roles.author.privileges.indexes` must be an object'],
  [{ privileges: { collections: { notes: true } } }, 'privileges.collections.notes` must be an'],
  [{ membership: ['notes'] }, '`roles.author.membership` must be an object, but is an array'],
  [{ membership: { notes: q.Query((x) => x) } }, 'membership.notes` must be true or a function'],
  [{ membership: { notes: false } }, 'membership.notes` must be true or a function, but is false'],
  [{ membership: { notes: undefined } }, 'must be true or a function, but is undefined'],
])('defineSchema() refuses the role %o and names the wrong member', (author, sentence) => {
  const define = (): unknown => defineSchema({ collections: {}, roles: { author } } as never);
  expect(define).toThrow(UsageError);
  expect(define).toThrow(sentence);
});

test('a role may be empty, and may refer to resources by expressions', () => {
  const others = [{ resource: q.Collections(), actions: { read: true } }, q.Object({})];
  const role = { privileges: { collections: undefined, others }, membership: undefined };
  const { roles } = defineSchema({
    collections: { notes: {} },
    roles: { silent: {}, reader: role },
  } as never).objects;
  expect(roles.get('silent')).toEqual({ privileges: [], membership: [] });
  expect(roles.get('reader')).toEqual({ privileges: others, membership: [] });
});

test.each<[string, unknown]>([
  ['undefined', undefined],
  ['a client', { query: () => null }],
])('migrate() and planMigration() refuse %s as the database', async (_, target) => {
  for (const refused of [
    migrate(target as Database, notes, { version: 1 }),
    planMigration(target as Database, notes),
  ])
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_usage',
      description: expect.stringContaining('The database must be') as unknown,
    });
});

test.each([0, -1, 1.5, '5', NaN])('each() refuses a size of %o', (size) => {
  const each = (): unknown => notes.each('notes', () => null, { size: size as number });
  expect(each).toThrow(UsageError);
  expect(each).toThrow('`size` must be a whole number from 1');
});

test.each<[string, unknown]>([
  ['null', null],
  ['a function', async () => undefined],
  ['each() without a function', notes.each('notes', null as never)],
])('migrate() refuses a step that is %s', async (_, step) => {
  const refused = migrate(db, notes, { version: 1, steps: { 1: step as DataStep } });
  await expect(refused).rejects.toBeInstanceOf(UsageError);
  await expect(refused).rejects.toMatchObject({
    description: expect.stringContaining('The step to version 1 must be') as unknown,
  });
  expect(await db.client().query(q.Count(q.Collections()))).toBe(0);
});

test('a schema may contain 64-bit integers, and distinguishes them exactly', async () => {
  const of = (limit: bigint) =>
    defineSchema({
      collections: { notes: { data: { limit } } },
      functions: { over: { body: q.Query((n) => q.GT(n, limit)) } },
    });
  const limit = 9007199254740993n;
  await migrate(db, of(limit), { version: 1 });
  expect(await db.client().query(q.Call('over', limit))).toBe(false);
  expect(await planMigration(db, of(limit))).toEqual([]);
  expect(await migrate(db, of(limit), { version: 1 })).toMatchObject({ changes: [] });
  const next = of(limit - 1n);
  await expect(migrate(db, next, { version: 1 })).rejects.toMatchObject({
    code: 'version_not_raised',
  });
  const { changes } = await migrate(db, next, { version: 2 });
  expect(changes.map(({ text }) => text)).toEqual([
    'change collection notes: data',
    'change function over: body',
  ]);
  expect(await db.client().query(q.Call('over', limit))).toBe(true);
});
