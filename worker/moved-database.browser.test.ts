/**
 * A database as an earlier release left it, in rows of format 1, opened by this build. `testing/rows-format-1.json` is never regenerated;
 * another format needs another file. `VITE_KEEP_ROWS=rows-format-N.json` creates such a file with this build.
 */
import { commands } from 'vitest/browser';
import { expect, test, vi } from 'vitest';
import {
  BurrowError,
  openDatabase,
  q,
  type Arg,
  type Database,
  type Progress,
} from '../src/index.ts';
import format1 from './testing/rows-format-1.json?raw';
import {
  keepDatabase,
  keptOf,
  keptText,
  makeDatabase,
  type KeptDatabase,
} from './testing/stored-rows.ts';

type Who = 'root' | 'token' | 'key' | 'child';

interface Kept {
  readonly database: KeptDatabase;
  readonly secrets: Readonly<Record<Exclude<Who, 'root'>, string>>;
  /** The answers to `QUESTIONS`, as wire JSON. */
  readonly answers: Readonly<Record<string, string>>;
}

let databases = 0;
const freshName = (): string => `moved-${Date.now()}-${++databases}`;

const PASSWORD = 'correct horse';
const NOTES = q.Collection('notes');
const ALICE = q.Match(q.Index('users_by_email'), 'alice@example.org');
const NOTE = q.Ref(NOTES, '7');
const EVERY = { size: 1000 };

/** The queries to run on a database, and the credential that runs each. */
const QUESTIONS: Readonly<Record<string, readonly [Who, unknown]>> = {
  schema: [
    'root',
    [q.Collections(), q.Indexes(), q.Roles(), q.Functions(), q.Databases()].map((set) =>
      q.Paginate(set, EVERY),
    ),
  ],
  definitions: [
    'root',
    [NOTES, q.Index('notes_by_tag'), q.Role('reader'), q.Function('double')].map((each) =>
      q.Get(each),
    ),
  ],
  documents: ['root', pageOfDocuments(q.Documents(NOTES))],
  users: ['root', pageOfDocuments(q.Documents(q.Collection('users')))],
  tagged: ['root', pageOfDocuments(q.Match(q.Index('notes_by_tag'), 'odd'))],
  newest: ['root', q.Paginate(q.Match(q.Index('notes_newest')), EVERY)],
  versions: ['root', q.Paginate(q.Events(NOTE), EVERY)],
  removed: ['root', q.Paginate(q.Events(q.Ref(NOTES, '4')), EVERY)],
  history: ['root', q.Paginate(q.Events(q.Match(q.Index('notes_by_tag'), 'odd')), EVERY)],
  past: ['root', q.At(q.Epoch(0, 'second'), q.Exists(NOTE))],
  called: ['root', q.Call('double', 21)],
  identity: ['token', q.Select(['data', 'email'], q.Get(q.CurrentIdentity()))],
  allowed: ['key', q.Count(q.Documents(NOTES))],
  child: ['child', pageOfDocuments(q.Documents(q.Collection('things')))],
  credentials: ['root', q.Identify(ALICE, PASSWORD)],
};

function pageOfDocuments(set: Arg): unknown {
  return q.Map(q.Paginate(set, EVERY), q.Lambda('x', q.Get(q.Var('x'))));
}

async function ask(db: Database, secret: string, query: unknown): Promise<string> {
  const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' };
  const body = JSON.stringify(query);
  const response = await db.fetch('http://local', { method: 'POST', headers, body });
  return response.text();
}

async function answersOf(
  db: Database,
  secrets: Kept['secrets'],
): Promise<Readonly<Record<string, string>>> {
  const answers: Record<string, string> = {};
  for (const [name, [who, query]] of Object.entries(QUESTIONS))
    answers[name] = await ask(db, who === 'root' ? db.rootSecret : secrets[who], query);
  return answers;
}

/** Stores something of every kind. */
async function fill(db: Database): Promise<Kept['secrets']> {
  const admin = db.client();
  await admin.query(q.CreateCollection({ name: 'users' }));
  await admin.query(q.CreateCollection({ name: 'notes', history_days: 36_500 }));
  const source = NOTES;
  for (const index of [
    {
      name: 'users_by_email',
      source: q.Collection('users'),
      terms: [{ field: ['data', 'email'] }],
      unique: true,
    },
    { name: 'notes_by_tag', source, terms: [{ field: ['data', 'tags'] }] },
    {
      name: 'notes_newest',
      source,
      values: [{ field: ['data', 'n'], reverse: true }, { field: ['ref'] }],
    },
  ])
    await admin.query(q.CreateIndex(index));
  const users = ['alice', 'bob'].map((name) =>
    q.Create(q.Collection('users'), {
      data: { email: `${name}@example.org` },
      credentials: { password: PASSWORD },
    }),
  );
  for (const user of users) await admin.query(user);
  for (let id = 1; id <= 40; id += 1) {
    const data = {
      n: id % 3 === 0 ? id + 0.5 : id,
      tags: [id % 2 === 0 ? 'even' : 'odd', `é～${id % 5}`],
      at: q.Time('2021-03-04T05:06:07.000000008Z'),
      day: q.Date('1969-12-31'),
      large: '9'.repeat(id === 9 ? 3_000 : 1),
      author: q.Select('ref', q.Get(ALICE)),
    };
    await admin.query(q.Create(q.Ref(NOTES, String(id)), { data }));
  }
  for (const n of [100, 200, 300])
    await admin.query(q.Update(NOTE, { data: { n, tags: ['odd'] } }));
  await admin.query(q.Delete(q.Ref(NOTES, '4')));
  await admin.query(q.Update(q.Ref(NOTES, '5'), { ttl: q.Time('2400-01-01T00:00:00Z') }));
  await admin.query(
    q.CreateRole({ name: 'reader', privileges: [{ resource: NOTES, actions: { read: true } }] }),
  );
  await admin.query(
    q.CreateFunction({ name: 'double', body: q.Query(q.Lambda('x', q.Multiply(2, q.Var('x')))) }),
  );
  await admin.query(q.CreateDatabase({ name: 'child' }));
  const secretOf = async (made: Arg): Promise<string> =>
    admin.query<string>(q.Select('secret', made));
  const key = await secretOf(q.CreateKey({ role: q.Role('reader') }));
  const child = await secretOf(q.CreateKey({ role: 'admin', database: q.Database('child') }));
  const token = await secretOf(q.Login(ALICE, { password: PASSWORD }));
  const inChild = db.client({ secret: child });
  await inChild.query(q.CreateCollection({ name: 'things' }));
  await inChild.query(q.Create(q.Ref(q.Collection('things'), '1'), { data: { is: 'there' } }));
  return { key, child, token };
}

/** The contents of the query log and of the files of exports. */
async function logsOf(db: Database): Promise<{ exports: number; queries: boolean }> {
  const { results } = await db.logs.list();
  return { exports: results.length, queries: results.every(({ state }) => state === 'Complete') };
}

test.runIf(import.meta.env['VITE_KEEP_ROWS'] !== undefined)(
  'a database of this build is saved as a file for the tests',
  async () => {
    const name = freshName();
    const db = await openDatabase(name, { store: 'rows', hashCost: 10, log: { enabled: true } });
    const secrets = await fill(db);
    const { request_id } = await db.logs.request({
      time_start: new Date(Date.now() - 600_000),
      time_end: new Date(Date.now() + 1000),
    });
    const state = async (): Promise<string> => (await db.logs.status(request_id)).state;
    await expect.poll(state).toBe('Complete');
    const answers = await answersOf(db, secrets);
    await db.close();
    const kept: Kept = { database: await keepDatabase(name), secrets, answers };
    await commands.writeFile(
      `worker/testing/${String(import.meta.env['VITE_KEEP_ROWS'])}`,
      keptText(kept),
    );
  },
);

/** The same database, whose export was finished just now: exports are removed after seven days. */
const withRecentExport = (text: string): string =>
  text.replaceAll(/(\\"created\\":)\d+/g, `$1${Date.now() * 1000}`);

test.each(['packed', 'rows'] as const)(
  'a database of an earlier release, stored as rows, has all its data when opened in the layout `%s`',
  async (store) => {
    const { database, secrets, answers } = keptOf(withRecentExport(format1)) as Kept;
    const name = freshName();
    await makeDatabase(name, database);
    for (let times = 0; times < 2; times += 1) {
      const db = await openDatabase(name, { store, hashCost: 10 });
      expect(db.loss).toBeUndefined();
      const found = await answersOf(db, secrets);
      expect(Object.keys(found).filter((asked) => found[asked] !== answers[asked])).toEqual([]);
      expect(await db.verify()).toEqual([]);
      expect(await logsOf(db)).toEqual({ exports: 1, queries: true });
      // Its history continues: no new write gets a time before the old ones.
      const admin = db.client();
      const before = await admin.query(q.Select('ts', q.Get(NOTE)));
      const { ref, ts } = await admin.Create(NOTES, { data: { n: 0, tags: ['new'] } });
      expect(ts).toBeGreaterThan(before);
      await admin.query(q.Delete(ref));
      const alice = await admin.Login(ALICE, { password: PASSWORD });
      expect(await db.client({ secret: alice.secret }).Logout(false)).toBe(true);
      await db.close();
    }
    expect((await keepDatabase(name)).version).toBe(store === 'rows' ? 20 : 30);
    const db = await openDatabase(name, { store });
    await db.destroy();
  },
);

const DOCUMENTS = 3000;

async function fillMany(name: string): Promise<void> {
  const db = await openDatabase(name, { store: 'rows', durability: 'relaxed' });
  const admin = db.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  await admin.query(
    q.CreateIndex({ name: 'by_n', source: NOTES, values: [{ field: ['data', 'n'] }] }),
  );
  const ids = Array.from({ length: DOCUMENTS }, (_, n) => n + 1);
  for (let at = 0; at < DOCUMENTS; at += 1000)
    await admin.query(
      q.Foreach(ids.slice(at, at + 1000), (id) => q.Create(q.Ref(NOTES, id), { data: { n: id } })),
    );
  await db.close();
}

/**
 * WebKit may keep the connections of a killed worker open for as long as the page lives (decision 0010): then the database cannot be
 * moved.
 */
function heldByTheKilled(reason: unknown): undefined {
  if (!(reason instanceof BurrowError && reason.code === 'storage_blocked')) throw reason;
}

test('a worker that is killed at any step of a move leaves a complete database', async () => {
  let name = freshName();
  await fillMany(name);
  let kills = 0;
  for (let isMoved = false; !isMoved;) {
    let worker: Worker | undefined;
    const received: Progress[] = [];
    const opening = openDatabase(name, {
      store: 'packed',
      worker: () =>
        (worker = new Worker(new URL('./main.ts', import.meta.url), { type: 'module' })),
      onProgress: (progress) => {
        received.push(progress);
        // The first progress message is sent before anything is copied, so each attempt copies one more slice.
        if (received.length === 2) worker?.terminate();
      },
    });
    // A page whose worker was killed while opening is notified late.
    opening.catch(() => undefined);
    const killed = vi.waitUntil(() => received.length >= 2, { timeout: 60_000 });
    const db = await Promise.race([
      opening.catch(heldByTheKilled),
      killed.then(() => 'killed' as const),
    ]);
    if (db === 'killed') kills += 1;
    else if (db) {
      isMoved = true;
      await db.close();
    } else {
      kills = 0;
      name = freshName();
      await fillMany(name);
    }
  }
  // A busy page may receive a progress message when the worker has already moved on. Then there are fewer kills than slices.
  expect(kills).toBeGreaterThan(1);
  const db = await openDatabase(name, { store: 'packed' });
  const admin = db.client();
  expect(await admin.query(q.Count(q.Match(q.Index('by_n'))))).toBe(DOCUMENTS);
  expect(await admin.query(q.Count(q.Documents(NOTES)))).toBe(DOCUMENTS);
  expect(await db.verify()).toEqual([]);
  // Not destroyed: in WebKit, connections of killed workers may block the deletion for longer than a page waits.
  await db.close();
});
