/** After any migration, a database has the same schema as a new one. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openDatabase } from '../../in-process/testing.ts';
import { q, type Database, type Expr } from '../index.ts';
import { defineSchema } from './define-schema.ts';
import { migrate, planMigration } from './migrate.ts';

const COLLECTIONS = ['one', 'two', 'three'] as const;
const INDEXES = ['red', 'green'] as const;
const FUNCTIONS = ['add', 'sub'] as const;

const field = fc.constantFrom('a', 'b').map((name) => ({ field: ['data', name] }));
const days = fc.constantFrom(null, 1, 30);
const access = fc.constantFrom({}, { permissions: { read: 'public' } } as const);

const someOf = <T>(names: readonly string[], value: fc.Arbitrary<T>) =>
  fc.subarray([...names]).chain((chosen) =>
    fc.tuple(...chosen.map(() => value)).map((values): Readonly<Record<string, T>> =>
      Object.fromEntries(
        chosen.flatMap((name, at) => {
          const each = values[at];
          return each === undefined ? [] : [[name, each] as const];
        }),
      ),
    ),
  );

const anySchema = fc
  .record({
    collections: someOf(
      COLLECTIONS,
      fc.tuple(fc.record({ history_days: days, ttl_days: days }), access).map(([one, other]) => ({
        ...one,
        ...other,
      })),
    ),
    at: fc.nat(2),
    indexes: someOf(
      INDEXES,
      fc.tuple(
        fc.record({
          terms: fc.array(field, { maxLength: 2 }),
          values: fc.array(field, { maxLength: 2 }),
          unique: fc.boolean(),
        }),
        access,
      ),
    ),
    functions: someOf(FUNCTIONS, fc.tuple(fc.nat(3), fc.constantFrom('server', 'role'))),
    hasRole: fc.boolean(),
  })
  .map(({ collections, at, indexes, functions, hasRole }) => {
    const names = Object.keys(collections);
    const source = names[at % Math.max(names.length, 1)];
    const kept = source === undefined ? {} : indexes;
    return defineSchema({
      collections,
      indexes: Object.fromEntries(
        Object.entries(kept).map(([name, [index, allowed]]) => [
          name,
          { ...index, ...allowed, source: q.Collection(source ?? '') },
        ]),
      ),
      functions: Object.fromEntries(
        Object.entries(functions).map(([name, [number, role]]) => [
          name,
          {
            body: q.Query((value) => q.Add(value, number)),
            role: role === 'role' && hasRole ? q.Role('member') : 'server',
          },
        ]),
      ),
      roles: hasRole
        ? {
            member: {
              membership: Object.fromEntries(names.map((name) => [name, true as const])),
              privileges: {
                collections: Object.fromEntries(
                  names.map((name) => [name, { read: (ref: Expr) => q.Exists(ref) }]),
                ),
                indexes: Object.fromEntries(
                  Object.keys(kept).map((name) => [name, { read: true }]),
                ),
                functions: Object.fromEntries(
                  Object.keys(functions).map((name) => [name, { call: true }]),
                ),
              },
            },
          }
        : {},
    });
  });

/** All schema objects, without their times and empty members. */
async function storedIn(db: Database): Promise<readonly string[]> {
  const kinds = [q.Collections(), q.Indexes(), q.Functions(), q.Roles()];
  const lists = await Promise.all(
    kinds.map((kind) =>
      db
        .client()
        .query(q.Map(q.Select('data', q.Paginate(kind)), (ref: Expr<never>) => q.Get(ref))),
    ),
  );
  return lists
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .map((object) =>
      JSON.stringify(object, (key: string, value: unknown) =>
        key === 'ts' || value === false || isEmpty(value) ? undefined : sorted(value),
      ),
    )
    .toSorted();
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

test('migrate() changes any schema into any other', { timeout: 300_000 }, () =>
  fc.assert(
    fc.asyncProperty(anySchema, anySchema, async (before, after) => {
      const [moved, made] = await Promise.all([openDatabase(), openDatabase()]);
      try {
        await migrate(moved, before, { version: 1 });
        await migrate(moved, after, { version: 2, allowLoss: COLLECTIONS });
        await migrate(made, after, { version: 2 });
        expect(await planMigration(moved, after)).toEqual([]);
        expect(await storedIn(moved)).toEqual(await storedIn(made));
      } finally {
        await Promise.all([moved.close(), made.close()]);
      }
    }),
    { numRuns: 15 },
  ),
);
