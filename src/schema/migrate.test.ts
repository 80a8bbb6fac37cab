/** `migrate()` over databases in memory: what it creates, changes and refuses, and how it continues after an interruption. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../../in-process/testing.ts';
import { Double, q, type Database, type Expr } from '../index.ts';
import { defineSchema } from './define-schema.ts';
import type { CollectionDefinition } from './document-types.ts';
import { migrate, planMigration, type SchemaTarget } from './migrate.ts';
import { SchemaRefused } from './refusal.ts';

let db: Database;
beforeEach(async () => {
  db = await openDatabase();
});
afterEach(() => db.close());

const ask = (expression: Expr): Promise<unknown> => db.client().query(expression);
const notes = q.Collection('notes');

const first = defineSchema({
  collections: { users: {}, notes: { history_days: 7 } },
  indexes: {
    notes_by_owner: { source: 'notes', terms: [{ field: ['data', 'owner'] }] },
    recent: { source: 'notes', values: [{ field: 'ts', reverse: true }, { field: 'ref' }] },
  },
  functions: {
    add: {
      body: q.Query((text) => q.Create(notes, { data: { text } })),
      role: q.Role('author'),
    },
  },
  roles: {
    author: {
      membership: { users: true },
      privileges: {
        collections: { notes: { create: true, read: (ref) => q.Exists(ref) } },
        indexes: { notes_by_owner: { read: true } },
        functions: { add: { call: true } },
      },
    },
  },
});

const second = defineSchema({
  collections: { users: {}, notes: { history_days: 7 } },
  indexes: {
    notes_by_owner: {
      source: 'notes',
      terms: [{ field: ['data', 'owner'], transform: 'casefold' }],
      values: [{ field: ['data', 'text'] }],
    },
  },
  functions: { add: { body: q.Query((text) => q.Create(notes, { data: { text, v: 2 } })) } },
  roles: {
    author: {
      membership: { users: (user) => q.Exists(user) },
      privileges: { indexes: { notes_by_owner: { read: true } } },
    },
  },
});

/** Fails after this many queries, because a migration that does not end would keep the test from ending. */
function boundedTo(queries: number): SchemaTarget {
  let left = queries;
  const client = db.client();
  const query = (expression: Expr): Promise<unknown> => {
    if (left-- > 0) return client.query(expression);
    throw new Error(`It has not ended after ${queries} queries.`);
  };
  return { client: () => ({ query }) };
}

const fill = async (count: number): Promise<void> => {
  for (let id = 1; id <= count; id++)
    await ask(q.Create(q.Ref(notes, id), { data: { owner: 'Ada', text: `note ${id}` } }));
};

async function refusalOf(migration: Promise<unknown>): Promise<SchemaRefused> {
  const reason: unknown = await migration.then(
    () => new Error('It was not refused.'),
    (error: unknown) => error,
  );
  if (reason instanceof SchemaRefused) return reason;
  throw reason;
}

/** All stored schema objects, without their times. */
const stored = (): Promise<unknown> =>
  ask(
    q.Map([q.Collections(), q.Indexes(), q.Functions(), q.Roles()], (kind) =>
      q.Map(q.Select('data', q.Paginate(kind, { size: 1000 })), (ref: Expr<never>) => q.Get(ref)),
    ),
  );

test('migrate() creates all schema objects in an empty database, and nothing on a second run', async () => {
  const { from, to, changes } = await migrate(db, first, { version: 1 });
  expect([from, to]).toEqual([0, 1]);
  expect(changes.map(({ text }) => text)).toEqual([
    'create collection users',
    'create collection notes',
    'create index notes_by_owner',
    'create index recent',
    'create function add',
    'create role author',
  ]);
  expect(await ask(q.Select('history_days', q.Get(notes)))).toBe(7);
  expect(await planMigration(db, first)).toEqual([]);
  expect(await migrate(db, first, { version: 1 })).toEqual({ from: 1, to: 1, changes: [] });
});

test('migrate() builds a changed index beside the old one, which answers queries until then', async () => {
  await migrate(db, first, { version: 1 });
  await ask(
    q.CreateRole({
      name: 'by_hand',
      privileges: { resource: q.Index('notes_by_owner'), actions: { read: true } },
    }),
  );
  await fill(3);
  const answers: unknown[] = [];
  const target = watched(async () => {
    const found = (name: string) => q.Count(q.Match(q.Index('notes_by_owner'), name));
    answers.push(await ask(q.Add(found('Ada'), found('ada'))));
  });
  const { changes } = await migrate(target, second, { version: 2 });
  expect(changes.map(({ text }) => text)).toEqual([
    'rebuild index notes_by_owner: terms, values',
    'remove index recent',
    'change function add: body, role',
    'change role author: privileges, membership',
  ]);
  expect(answers.length).toBeGreaterThan(3);
  // The old index has Ada, the new one ada: at any time there is exactly one of them.
  expect(new Set(answers)).toEqual(new Set([3]));
  expect(
    await ask(q.Select('data', q.Paginate(q.Match(q.Index('notes_by_owner'), 'ada')))),
  ).toEqual(['note 1', 'note 2', 'note 3']);
  expect(await ask(q.Exists(q.Index('recent')))).toBe(false);
  expect(await ask(q.Exists(q.Index('notes_by_owner__next')))).toBe(false);
  expect(await planMigration(db, second)).toEqual([]);
  expect(
    await ask(
      q.Equals(
        q.Select(['privileges', 'resource'], q.Get(q.Role('by_hand'))),
        q.Index('notes_by_owner'),
      ),
    ),
  ).toBe(true);
});

test('migrate() keeps objects that no schema has created', async () => {
  await ask(q.CreateCollection({ name: 'others' }));
  await migrate(db, first, { version: 1 });
  await migrate(db, second, { version: 2 });
  expect(await ask(q.Exists(q.Collection('others')))).toBe(true);
});

test('migrate() reverts manual changes', async () => {
  await migrate(db, first, { version: 1 });
  await ask(q.Update(notes, { history_days: 1 }));
  await ask(q.Delete(q.Index('recent')));
  await migrate(db, first, { version: 1 });
  expect(await ask(q.Select('history_days', q.Get(notes)))).toBe(7);
  expect(await ask(q.Exists(q.Index('recent')))).toBe(true);
});

test('a program with an older schema is refused and changes nothing', async () => {
  await migrate(db, second, { version: 2 });
  const before = await stored();
  const refusal = await refusalOf(migrate(db, first, { version: 1 }));
  expect(refusal.code).toBe('newer_schema');
  expect(refusal.message).toContain('has version 2 of its schema, this program has version 1');
  expect(await stored()).toEqual(before);
});

test('a program with an older schema is refused as soon as a newer one has begun to migrate', async () => {
  await migrate(db, first, { version: 1 });
  await expect(migrate(stoppedAfter(1), second, { version: 2 })).rejects.toThrow('stopped');
  expect((await refusalOf(migrate(db, first, { version: 1 }))).code).toBe('newer_schema');
  await migrate(db, second, { version: 2 });
  expect(await planMigration(db, second)).toEqual([]);
});

test('a changed schema needs a higher version', async () => {
  await migrate(db, first, { version: 1 });
  const refusal = await refusalOf(migrate(db, second, { version: 1 }));
  expect(refusal.code).toBe('version_not_raised');
  expect(refusal.plan).toHaveLength(4);
});

test('renamed parameters do not change a schema, because each build of an app renames them', async () => {
  const built = (body: Expr) => defineSchema({ collections: {}, functions: { twice: { body } } });
  await migrate(db, built(q.Query(q.Lambda('number', q.Multiply(q.Var('number'), 2)))), {
    version: 1,
  });
  const again = built(q.Query(q.Lambda('t', q.Multiply(q.Var('t'), 2))));
  expect(await migrate(db, again, { version: 1 })).toMatchObject({ changes: [] });
});

const withoutNotes = defineSchema({ collections: { users: {} } });

test('migrate() refuses to remove documents unless the collection is in allowLoss', async () => {
  await migrate(db, first, { version: 1 });
  await fill(1);
  const before = await stored();
  const refusal = await refusalOf(migrate(db, withoutNotes, { version: 2 }));
  expect(refusal.code).toBe('data_loss');
  expect(refusal.message).toContain('- remove collection notes; this loses its documents');
  expect(await stored()).toEqual(before);
  await migrate(db, withoutNotes, { version: 2, allowLoss: ['notes'] });
  expect(await ask(q.Exists(notes))).toBe(false);
});

test('migrate() removes a collection without documents', async () => {
  await migrate(db, first, { version: 1 });
  await migrate(db, withoutNotes, { version: 2 });
  expect(await ask(q.Exists(notes))).toBe(false);
});

test('migrate() keeps a collection to which documents were written after the plan', async () => {
  await migrate(db, first, { version: 1 });
  await expect(
    migrate(db, withoutNotes, {
      version: 2,
      steps: { 2: q.Create(q.Ref(notes, 1), { data: { text: 'late' } }) },
    }),
  ).rejects.toMatchObject({ code: 'data_loss' });
  expect(await ask(q.Exists(q.Ref(notes, 1)))).toBe(true);
});

test.each([
  ['history_days', 'versions older than 3 days'],
  ['ttl_days', 'documents older than 3 days'],
])('migrate() refuses a shorter %s', async (member, loss) => {
  await migrate(db, first, { version: 1 });
  const shorter = defineSchema({ collections: { users: {}, notes: { [member]: 3 } } });
  const refusal = await refusalOf(migrate(db, shorter, { version: 2 }));
  expect(refusal.code).toBe('data_loss');
  expect(refusal.message).toContain(`this loses ${loss}`);
});

test('migrate() finishes with members that are stored as null or not at all', async () => {
  const foreign: object = { description: 'of another library' };
  const schema = defineSchema({
    collections: {
      open: { permissions: {} },
      plain: { data: {} },
      bare: { data: { note: null, list: [null, 1] } },
      other: foreign,
    },
  });
  await migrate(boundedTo(20), schema, { version: 1 });
  expect(await migrate(boundedTo(20), schema, { version: 1 })).toMatchObject({ changes: [] });
});

test.each([{ exists: 'neither collection' }, { exists: 'the first collection' }])(
  'permissions and data of a collection may refer to any collection of the schema: $exists exists',
  async ({ exists }) => {
    const users = q.Collection('users');
    const schema = defineSchema({
      collections: {
        notes: { permissions: { create: users }, data: { of: users } },
        users: { permissions: { read: users } },
      },
    });
    if (exists !== 'neither collection') await ask(q.CreateCollection({ name: 'notes' }));
    await migrate(boundedTo(20), schema, { version: 1 });
    expect(await planMigration(db, schema)).toEqual([]);
    expect(await ask(q.Equals(q.Select(['permissions', 'read'], q.Get(users)), users))).toBe(true);
  },
);

test('migrate() removes permissions and data that the schema no longer has', async () => {
  const at = (
    permissions: CollectionDefinition['permissions'] & object,
    data: CollectionDefinition['data'] & object,
    version: number,
  ) =>
    migrate(boundedTo(20), defineSchema({ collections: { notes: { permissions, data } } }), {
      version,
    });
  const members = () =>
    ask(
      q.Let({ it: q.Get(notes) }, (it) =>
        q.Merge(q.Select('permissions', it, {}), q.Select('data', it, {})),
      ),
    );
  await at({ read: 'public' }, { team: { lead: 'Ada', size: 2 } }, 1);
  await at({ write: 'public' }, { team: { lead: 'Ben' } }, 2);
  expect(await members()).toEqual({ write: 'public', team: { lead: 'Ben' } });
  await at({}, { room: 1 }, 3);
  expect(await members()).toEqual({ room: 1 });
});

test('a version below 1 and a step above the version are refused', async () => {
  await expect(migrate(db, first, { version: 0 })).rejects.toThrow('from 1');
  await expect(migrate(db, first, { version: 1, steps: { 2: q.Now() } })).rejects.toThrow('got 2');
});

test('data steps run only if the database already has a collection of the schema', async () => {
  await migrate(db, first, { version: 1, steps: { 1: q.Abort('run') } });
  const adopted = await openDatabase();
  await adopted.client().query(q.CreateCollection({ name: 'notes' }));
  await expect(
    migrate(adopted, withoutNotes, { version: 1, steps: { 1: q.Abort('run') } }),
  ).resolves.toMatchObject({ to: 1 });
  const withNotes = defineSchema({ collections: { notes: {} } });
  const other = await openDatabase();
  await other.client().query(q.CreateCollection({ name: 'notes' }));
  await expect(
    migrate(other, withNotes, { version: 1, steps: { 1: q.Abort('run') } }),
  ).rejects.toThrow('run');
  await Promise.all([adopted.close(), other.close()]);
});

const counting = second.each(
  'notes',
  (document) =>
    q.Update(q.Select('ref', document), {
      data: { seen: q.Add(q.Select(['data', 'seen'], document, 0), 1) },
    }),
  { size: 4 },
);
const SEEN_ONCE = 10;
const seen = (): Promise<unknown> =>
  ask(
    q.Select(
      'data',
      q.Map(q.Paginate(q.Documents(notes)), (ref) => q.Select(['data', 'seen'], q.Get(ref), 0)),
    ),
  );
const once = Array.from({ length: SEEN_ONCE }, () => 1);

test('a data step runs once for each document, in batches, and reports its progress', async () => {
  await migrate(db, first, { version: 1 });
  await fill(SEEN_ONCE);
  const told: unknown[] = [];
  await migrate(db, second, {
    version: 2,
    steps: { 2: counting },
    onProgress: ({ phase, step, documents }) => {
      if (phase === 'step') told.push([step, documents]);
    },
  });
  expect(told).toEqual([
    [2, 0],
    [2, 4],
    [2, 8],
  ]);
  expect(await seen()).toEqual(once);
  await migrate(db, second, { version: 2, steps: { 2: counting } });
  expect(await seen()).toEqual(once);
});

test('a data step that creates documents in its collection visits those that were there before', async () => {
  await migrate(db, first, { version: 1 });
  await fill(SEEN_ONCE);
  const told: unknown[] = [];
  const splitting = second.each(
    'notes',
    (document) =>
      q.Do(
        q.Update(q.Select('ref', document), {
          data: { seen: q.Add(q.Select(['data', 'seen'], document, 0), 1) },
        }),
        q.Create(notes, { data: { text: 'the second half' } }),
      ),
    { size: 4 },
  );
  // Refs from elsewhere may be later than all that the database makes.
  await ask(q.Create(q.Ref(notes, '9000000000000000000'), { data: { text: 'last' } }));
  await migrate(db, second, {
    version: 2,
    steps: { 2: splitting },
    onProgress: ({ phase, documents }) => {
      if (phase === 'step') told.push(documents);
      if (told.length > 9) throw new Error('The step does not end.');
    },
  });
  expect(await seen()).toEqual([...once, ...once.map(() => 0), 0, 1]);
});

test('a migration that is killed before any commit is completed by another run', async () => {
  let commits = 0;
  for (let kill = 0; ; kill++) {
    await db.close();
    db = await openDatabase();
    await migrate(db, first, { version: 1 });
    await fill(SEEN_ONCE);
    const options = { version: 2, steps: { 2: counting } };
    const isKilled = await migrate(stoppedAfter(kill), second, options).then(
      () => false,
      (reason: Error) => reason.message === 'stopped',
    );
    await migrate(db, second, options);
    expect(await seen(), `killed after ${kill} commits`).toEqual(once);
    expect(await planMigration(db, second)).toEqual([]);
    if (!isKilled) break;
    commits++;
  }
  expect(commits).toBeGreaterThan(5);
});

test('two concurrent migrations run each step once', async () => {
  await migrate(db, first, { version: 1 });
  await fill(SEEN_ONCE);
  const options = { version: 2, steps: { 2: counting } };
  await Promise.all([migrate(db, second, options), migrate(db, second, options)]);
  expect(await seen()).toEqual(once);
  expect(await planMigration(db, second)).toEqual([]);
});

test('another migration may run between any two queries of a migration', async () => {
  let isOver = false;
  for (let at = 1; !isOver; at++) {
    const fresh = await openDatabase();
    await migrate(fresh, first, { version: 1 });
    await fresh.client().query(q.Create(notes, { data: { text: 'a' } }));
    const options = { version: 2, allowLoss: ['notes'] };
    let asked = 0;
    const target: SchemaTarget = {
      client: () => ({
        async query(expression: Expr) {
          asked += 1;
          if (asked === at) await migrate(fresh, withoutNotes, options);
          return fresh.client().query(expression);
        },
      }),
    };
    await migrate(target, withoutNotes, options);
    expect(await planMigration(fresh, withoutNotes), `before query ${at}`).toEqual([]);
    isOver = asked < at;
    await fresh.close();
  }
});

test('a failed step runs again in the next migration', async () => {
  await migrate(db, first, { version: 1 });
  await fill(1);
  await expect(
    migrate(db, second, { version: 2, steps: { 2: q.Abort('not yet') } }),
  ).rejects.toMatchObject({ code: 'transaction aborted', description: 'not yet' });
  await migrate(db, second, { version: 2, steps: { 2: counting } });
  expect(await seen()).toEqual([1]);
});

test('a schema that follows an unfinished migration removes the objects which that one began to build', async () => {
  await migrate(db, first, { version: 1 });
  await fill(2);
  await expect(migrate(stoppedAfter(2), second, { version: 2 })).rejects.toThrow('stopped');
  const third = defineSchema({ collections: { users: {}, notes: { history_days: 7 } } });
  await migrate(db, third, { version: 3 });
  expect(await planMigration(db, third)).toEqual([]);
  expect(await ask(q.Count(q.Indexes()))).toBe(0);
});

/** The database, with a call of `look` before each query. */
function watched(look: () => Promise<void>): SchemaTarget {
  const client = db.client();
  return {
    client: () => ({
      async query(expression) {
        await look();
        return client.query(expression);
      },
    }),
  };
}

/** The database of a program that is killed before a commit, after this many commits. */
function stoppedAfter(commits: number): SchemaTarget {
  const client = db.client();
  let left = commits;
  return {
    client: () => ({
      async query(expression) {
        // Queries that read are objects; transactions that commit begin with a condition on the record.
        const mayWrite = JSON.stringify(expression).startsWith('{"if"');
        if (mayWrite && left-- <= 0) throw new Error('stopped');
        return client.query(expression);
      },
    }),
  };
}

test('replacing an Integer by a Double is a change', async () => {
  const of = (one: number | Double) =>
    defineSchema({
      collections: {},
      functions: { next: { body: q.Query((n) => q.Add(n as Expr<number>, one)) } },
      roles: {},
    });
  await migrate(db, of(1), { version: 1 });
  const changed = of(new Double(1));
  await expect(migrate(db, changed, { version: 1 })).rejects.toMatchObject({
    code: 'version_not_raised',
  });
  const { changes } = await migrate(db, changed, { version: 2 });
  expect(changes.map(({ text }) => text)).toEqual(['change function next: body']);
  expect(await ask(q.IsDouble(q.Call('next', 1)))).toBe(true);
  expect(await planMigration(db, changed)).toEqual([]);
});

test('adding a null to a function is a change', async () => {
  const title = ['data', 'title'];
  const of = (body: Expr) => defineSchema({ collections: {}, functions: { title: { body } } });
  await migrate(db, of(q.Query((note) => q.Select(title, note))), { version: 1 });
  const changed = of(q.Query((note) => q.Select(title, note, null)));
  await expect(migrate(db, changed, { version: 1 })).rejects.toMatchObject({
    code: 'version_not_raised',
  });
  const { changes } = await migrate(db, changed, { version: 2 });
  expect(changes.map(({ text }) => text)).toEqual(['change function title: body']);
  expect(await ask(q.Call('title', q.Object({})))).toBe(null);
  expect(await planMigration(db, changed)).toEqual([]);
});

test('another variable in a function is a change, also where its name hides an outer one', async () => {
  const of = (shown: string) => {
    const inside = q.Map(['c'], q.Lambda('z', q.Var(shown)));
    const body = q.Query(q.Lambda('x', q.Map(['b'], q.Lambda('x', inside))));
    return defineSchema({ collections: {}, functions: { last: { body } } });
  };
  await migrate(db, of('x'), { version: 1 });
  await migrate(db, of('z'), { version: 2 });
  expect(await ask(q.Call('last', 'a'))).toEqual([['c']]);
});
