/** A local database is adopted by a hub: completely, exactly once, wherever adoption is interrupted. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { adopt, AdoptRefused, planAdoption, type AdoptOptions } from '../src/adopt/adopt.ts';
import { queryError } from '../src/client/errors.ts';
import {
  DatabaseClosed,
  Double,
  q,
  type Arg,
  type Database,
  type QueryOptions,
  type Ref,
  type SubmitOptions,
  type Sync,
} from '../src/index.ts';
import { createNetwork, openDatabase, openHub, type TestHub, type TestNetwork } from './testing.ts';

const notes = q.Collection<{ title: string; by?: Ref; about?: Ref }>('notes');
const users = q.Collection('users');
const all = q.Documents(notes);
const titles = q.Select(
  'data',
  q.Map(q.Paginate(all, { size: 1000 }), (ref) => q.Select(['data', 'title'], q.Get(ref))),
);
const ada = q.Ref(users, '1');

let hub: TestHub;
let network: TestNetwork;
let local: Database;
let copy: Database;
let sync: Sync;

const actions = { read: true, create: true, create_with_id: true, write: true, delete: true };

/**
 * Local database: a user and five of their notes, each with a ref to the previous one. Hub: the same user under another id, and no note.
 */
beforeEach(async () => {
  hub = await openHub();
  const admin = hub.client();
  await admin.query(
    q.Do(q.CreateCollection({ name: 'notes' }), q.CreateCollection({ name: 'users' })),
  );
  await admin.query(q.Create(ada, { credentials: { password: 'secret' } }));
  await admin.query(
    q.CreateRole({
      name: 'member',
      membership: { resource: users },
      privileges: [{ resource: notes, actions }],
    }),
  );
  const { secret: key } = await admin.query(q.CreateKey({ role: 'client' }));
  network = createNetwork();
  copy = await openDatabase('copy', { network });
  sync = await copy.sync({
    url: hub.url,
    login: { user: ada, password: 'secret', key },
    sets: [all],
  });
  await sync.whenSynced();

  local = await openDatabase('alone');
  const client = local.client();
  await client.query(
    q.Do(q.CreateCollection({ name: 'notes' }), q.CreateCollection({ name: 'users' })),
  );
  await client.query(q.Create(q.Ref(users, '77'), { credentials: { password: 'here' } }));
  for (let n = 1; n <= 5; n++)
    await client.query(
      q.Create(q.Ref(notes, `${100 + n}`), {
        data: {
          title: `note ${n}`,
          by: q.Ref(users, '77'),
          ...(n > 1 && { about: q.Ref(notes, `${99 + n}`) }),
        },
      }),
    );
});
afterEach(async () => {
  await local.close();
  await copy.close();
  await hub.close();
});

/** Maps the user of this device to the user who has logged in. */
const here: AdoptOptions = {
  map: ({ ref }) => (ref.collection?.id === 'users' ? { is: adaRef } : {}),
};
let adaRef: Ref;
beforeEach(async () => {
  adaRef = await hub.client().query(q.Select('ref', q.Get(ada)));
});

const FIVE = ['note 1', 'note 2', 'note 3', 'note 4', 'note 5'];

/** Expects the five notes at the hub: each created once, with refs to the documents of the hub. */
async function expectFive(): Promise<void> {
  const admin = hub.client();
  expect(await admin.query(titles)).toEqual(FIVE);
  const versions = q.Count(q.Select('data', q.Paginate(q.Events(all), { size: 100 })));
  expect(await admin.query(versions)).toBe(5);
  const third = await admin.query(q.Get(q.Ref(notes, '103')));
  expect(third.data.by).toEqual(adaRef);
  expect(third.data.about?.id).toBe('102');
}

test('adopted documents keep their ids, and refs to mapped documents are replaced', async () => {
  const received: string[] = [];
  const adoption = await adopt(local, sync, {
    ...here,
    onProgress: ({ phase, done, total }) => received.push(`${phase} ${done} of ${total}`),
  });
  expect(adoption).toMatchObject({ submitted: 5, known: 0 });
  expect(await adoption.settled).toEqual({ refused: [] });
  await expectFive();
  expect(received.at(-1)).toBe('writing 5 of 5');
  expect(await sync.client.query(titles)).toEqual(FIVE);
});

test('numbers that `map` leaves in place keep their type', async () => {
  const data = {
    title: 'numbers: {"price":5.0}, -0.0',
    price: new Double(5),
    count: 5,
    zero: new Double(-0),
    exact: 2n ** 53n + 1n,
    list: [new Double(2 ** 53), 1.5, 7, new Double(1e20)],
    below: { '@tag': new Double(3), more: { value: new Double(4) } },
    ['__proto__']: { value: new Double(6) },
    due: q.Time('2031-05-04T12:00:00Z'),
  };
  await local.client().query(q.Create(q.Ref(notes, '200'), { data }));
  const { settled } = await adopt(local, sync, {
    collections: ['notes'],
    map: (document) => ({ data: { ...document.data, adopted: 1 } }),
  });
  expect(await settled).toEqual({ refused: [] });
  const textOf = q.Format(
    '%@',
    q.Merge(q.Select('data', q.Get(q.Ref(notes, '200'))), { adopted: 1 }),
  );
  expect(await hub.client().query(textOf)).toBe(await local.client().query(textOf));
});

test('offline, adopted documents are visible at once and wait in the outbox', async () => {
  network.offline();
  const { settled } = await adopt(local, sync, here);
  expect(await sync.client.query(titles)).toEqual(FIVE);
  expect(await hub.client().query(q.Count(all))).toBe(0);
  network.online();
  expect(await settled).toEqual({ refused: [] });
  await expectFive();
});

test.each([0, 1, 2, 3, 4])(
  'an adoption that is aborted before document %i can be repeated without duplicates',
  async (at) => {
    const cut = new AbortController();
    const cutOff = adopt(local, sync, {
      ...here,
      signal: cut.signal,
      onProgress: ({ phase, done }) => {
        if (phase === 'writing' && done === at) cut.abort(new Error('cut off'));
      },
    });
    await expect(cutOff).rejects.toThrow('cut off');
    const again = await adopt(local, sync, here);
    expect(again.submitted + again.known).toBe(5);
    expect(await again.settled).toEqual({ refused: [] });
    await expectFive();
    expect(await adopt(local, sync, here)).toMatchObject({ submitted: 0, known: 5 });
  },
);

test('a second adoption from another device changes no document', async () => {
  await (
    await adopt(local, sync, here)
  ).settled;
  const other = await openDatabase('another copy', { network });
  const { secret } = await hub.client().query(q.CreateKey({ role: 'admin' }));
  const others = await other.sync({ url: hub.url, secret, sets: [all] });
  await others.whenSynced();
  const { submitted, settled } = await adopt(local, others, here);
  expect(submitted).toBe(5);
  expect(await settled).toEqual({ refused: [] });
  await expectFive();
  await other.close();
});

test('a document of another local database with the id of an adopted document is a clash', async () => {
  await (
    await adopt(local, sync, here)
  ).settled;
  const next = await openDatabase('alone');
  await next.client().query(q.CreateCollection({ name: 'notes' }));
  await next.client().query(q.Create(q.Ref(notes, '101'), { data: { title: 'another one' } }));
  const { known, failed } = await adopt(next, sync);
  await next.close();
  expect(known).toBe(0);
  expect(failed.map(({ description }) => description)).toEqual([
    'The hub already has notes/101, with other data.',
  ]);
});

test('a dry run describes a clash and writes nothing; an adoption skips the clashing document', async () => {
  await hub.client().query(q.Create(q.Ref(notes, '102'), { data: { title: 'of somebody else' } }));
  await sync.whenSynced();
  const plan = await planAdoption(local, sync, here);
  expect(plan).toMatchObject({ documents: 5, checkedBy: 'hub' });
  expect(plan.clashes.map(({ ref, description }) => `${ref.id}: ${description}`)).toEqual([
    '102: The hub already has notes/102, with other data.',
  ]);
  // Nothing was written.
  expect(await sync.writes.list()).toEqual([]);
  expect(await hub.client().query(q.Count(all))).toBe(1);

  network.offline();
  expect(await planAdoption(local, sync, here)).toMatchObject({ checkedBy: 'device' });
  network.online();
  await sync.whenSynced();
  // The copy finds the clash too; the other documents are adopted.
  const seen = await adopt(local, sync, here);
  expect(seen).toMatchObject({
    submitted: 4,
    failed: [{ description: expect.stringMatching('already') }],
  });
  expect(await seen.settled).toEqual({ refused: [] });
});

const requireUniqueTitles = () =>
  hub.client().query(
    q.CreateIndex({
      name: 'notes_by_title',
      source: notes,
      terms: [{ field: ['data', 'title'] }],
      unique: true,
    }),
  );

test('a dry run names the unique index that refuses a document, and its fields', async () => {
  await requireUniqueTitles();
  await hub.client().query(q.Create(q.Ref(notes, '7'), { data: { title: 'note 2' } }));
  await sync.setSets([q.Ref(notes, '101')]);
  await sync.whenSynced();
  const plan = await planAdoption(local, sync, here);
  expect(plan.checkedBy).toBe('hub');
  expect(plan.clashes.map(({ ref, description }) => `${ref.id}: ${description}`)).toEqual([
    '102: document is not unique. Another document has the same data.title, and index notes_by_title is unique.',
  ]);
});

test('a dry run reports local documents that would clash with each other at the hub', async () => {
  await requireUniqueTitles();
  await sync.whenSynced();
  const twice = { title: 'note 2' };
  await local.client().query(q.Create(q.Ref(notes, '110'), { data: twice }));
  const third = await local.client().query(q.Select('ref', q.Get(q.Ref(notes, '103'))));
  const map: AdoptOptions['map'] = (document) =>
    document.ref.id === '104' ? { ref: third } : here.map?.(document);
  const plan = await planAdoption(local, sync, { map });
  expect(plan.clashes.map(({ ref, description }) => `${ref.id}: ${description}`)).toEqual([
    '103: The hub already has notes/103, with other data.',
    '110: document is not unique. Another document has the same data.title, and index notes_by_title is unique.',
  ]);
  const { failed, settled } = await adopt(local, sync, { map });
  expect(failed.length + (await settled).refused.length).toBe(2);
});

test('the hub refuses a clash that the copy cannot see, and the write stays in the list', async () => {
  await hub.client().query(q.Create(q.Ref(notes, '102'), { data: { title: 'of somebody else' } }));
  await sync.setSets([q.Ref(notes, '101')]);
  await sync.whenSynced();
  const { submitted, settled } = await adopt(local, sync, here);
  expect(submitted).toBe(5);
  const { refused } = await settled;
  expect(refused).toMatchObject([{ label: 'notes 102', data: { adopted: 'notes/102' } }]);
  expect(await sync.writes.list({ states: ['refused'] })).toHaveLength(1);
  expect(await hub.client().query(q.Count(all))).toBe(5);
});

test('a dry run rejects if the connection to the hub is lost', async () => {
  const planned = planAdoption(local, sync, {
    ...here,
    onProgress: ({ phase }) => {
      if (phase === 'checking') network.offline();
    },
  });
  await expect(planned).rejects.toMatchObject({ code: 'connection_needed' });
});

test.each(['limit_exceeded', 'time out'])(
  'a dry run checks fewer documents at a time if the hub refuses many together (%s)',
  async (code) => {
    const query = (expression: Arg, options?: QueryOptions) =>
      Array.isArray(expression) && expression.length > 3
        ? Promise.reject(queryError([{ code, description: 'It is too much.' }]))
        : sync.client.query(expression, options);
    const client = Object.create(sync.client, { query: { value: query } }) as Sync['client'];
    const busy = Object.create(sync, { client: { value: client } }) as Sync;
    Object.defineProperty(busy, 'state', { get: () => sync.state });
    expect(await planAdoption(local, busy, here)).toMatchObject({ documents: 5, clashes: [] });
  },
);

test('an adoption waits while the outbox is full', async () => {
  let refusals = 0;
  const submit = (expression: Arg, options?: SubmitOptions) =>
    ++refusals === 3
      ? Promise.reject(queryError([{ code: 'outbox_full', description: 'It is full.' }]))
      : sync.client.submit(expression, options);
  const client = Object.create(sync.client, { submit: { value: submit } }) as Sync['client'];
  const full = Object.create(sync, {
    client: { value: client },
    whenSettled: { value: () => sync.whenSettled() },
  }) as Sync;
  Object.defineProperties(full, {
    state: { get: () => sync.state },
    writes: { value: sync.writes },
  });
  const { submitted, failed, settled } = await adopt(local, full, here);
  expect({ submitted, failed }).toEqual({ submitted: 5, failed: [] });
  expect(await settled).toEqual({ refused: [] });
  await expectFive();
});

test('an adoption that waits for a full outbox can be aborted', async () => {
  const stop = new AbortController();
  const full = {
    client: {
      query: () => Promise.resolve([true]),
      submit: () => {
        stop.abort(new Error('stopped'));
        return Promise.reject(queryError([{ code: 'outbox_full', description: 'It is full.' }]));
      },
    },
    writes: { list: () => Promise.resolve([]) },
    whenSettled: () => new Promise(() => undefined),
  } as unknown as Sync;
  const options = { ...here, signal: stop.signal };
  await expect(adopt(local, full, options)).rejects.toThrow('stopped');
});

test('`map` can leave out a document or change its data', async () => {
  const { settled } = await adopt(local, sync, {
    map: ({ ref, data }) => {
      if (ref.collection?.id !== 'notes' || ref.id === '105') return undefined;
      return ref.id === '101' ? { data: { title: `${String(data['title'])}, adopted` } } : {};
    },
    label: ({ data }) => `Take over “${String(data['title'])}”`,
  });
  expect(await settled).toEqual({ refused: [] });
  expect(await hub.client().query(titles)).toEqual([
    'note 1, adopted',
    'note 2',
    'note 3',
    'note 4',
  ]);
  const labels = (await sync.writes.list()).map(({ label }) => label);
  expect(labels[1]).toBe('Take over “note 2”');
});

test('an adoption is refused before any write if the hub or the copy lacks a collection', async () => {
  await local.client().query(q.CreateCollection({ name: 'drafts' }));
  await local.client().query(q.Create(q.Collection('drafts'), { data: {} }));
  const refused = adopt(local, sync, here);
  await expect(refused).rejects.toBeInstanceOf(AdoptRefused);
  await expect(refused).rejects.toMatchObject({ code: 'missing_collection' });
  expect(await sync.writes.list()).toEqual([]);
  await expect(adopt(local, sync, { ...here, collections: ['none'] })).rejects.toMatchObject({
    code: 'invalid_option',
  });
  const { submitted } = await adopt(local, sync, { ...here, collections: ['users', 'notes'] });
  expect(submitted).toBe(5);
});

test('closing the database rejects `settled` without an unhandled rejection', async () => {
  network.offline();
  const { settled } = await adopt(local, sync, here);
  // An unhandled rejection would fail this file.
  await copy.close();
  await expect(settled).rejects.toBeInstanceOf(DatabaseClosed);
});

test('invalid options and invalid answers of `map` are refused before any write', async () => {
  const wrong = async (options: unknown, sentence: string) => {
    for (const call of [planAdoption, adopt])
      await expect(call(local, sync, options as AdoptOptions)).rejects.toMatchObject({
        name: 'AdoptRefused',
        code: 'invalid_option',
        message: expect.stringContaining(sentence),
      });
  };
  await wrong(null, 'Options must be an object');
  await wrong({ colections: ['notes'] }, 'Did you mean `collections`?');
  await wrong({ collections: 'notes' }, '`collections` must be an array of names');
  await wrong({ map: () => null }, '`map` must answer undefined or an object, but answered null');
  await wrong({ map: async () => ({}) }, 'but answered a promise');
  await wrong({ map: () => 'users' }, 'but answered users');
  const noRef = '`map` must answer the ref of a document, as a query gives it, but answered ';
  for (const ref of [ada, users, '1', null, await sync.client.query(q.Collections())])
    for (const name of ['is', 'ref'])
      await wrong({ map: () => ({ [name]: ref }) }, `${noRef}${String(ref)}`);
  await wrong({ map: ({ ref }: { ref: Ref }) => ref }, 'but answered Ref(Collection("');
  await wrong(
    { map: ({ data }: { data: object }) => ({ dta: { ...data, title: 'hidden' } }) },
    'What `map` answered: There is no option `dta`. Did you mean `data`?',
  );
  await wrong({ map: () => ({ leave: true }) }, 'There are: is, ref, data.');
  for (const name of ['map', 'label', 'onProgress'])
    await wrong({ [name]: {} }, `\`${name}\` must be a function.`);
  await expect(adopt(copy, sync)).rejects.toThrow('this database is the copy itself');
  const noSync = hub.url as unknown as Sync;
  await expect(adopt(local, noSync, here)).rejects.toMatchObject({ code: 'invalid_option' });
  for (const [from, to] of [
    [sync, local],
    [sync, sync],
    [Promise.resolve(local), sync],
  ] as unknown as readonly [Database, Sync][])
    await expect(adopt(from, to, here)).rejects.toMatchObject({ code: 'invalid_option' });
  expect(await sync.writes.list()).toEqual([]);
});

test('a field that `map` sets to null is no clash in a later dry run', async () => {
  const map: AdoptOptions['map'] = ({ ref, data }) =>
    ref.collection?.id === 'notes'
      ? { data: { ...data, by: null, in: { about: null } } }
      : undefined;
  await (
    await adopt(local, sync, { map })
  ).settled;
  expect(await planAdoption(local, sync, { map })).toMatchObject({ documents: 5, clashes: [] });
});

test('`map` may return the whole document with changes', async () => {
  const map: AdoptOptions['map'] = (document) =>
    document.ref.collection?.id === 'notes'
      ? { ...document, data: { ...document.data, title: 'changed' } }
      : undefined;
  const { settled } = await adopt(local, sync, { map });
  expect((await settled).refused).toEqual([]);
  expect(await hub.client().query(titles)).toEqual(Array(5).fill('changed'));
});

test('64-bit integers are adopted exactly', async () => {
  const ref = q.Ref(q.Collection('notes'), '200');
  await local.client().query(q.Create(ref, { data: { n: 9007199254740993n } }));
  const { submitted, settled } = await adopt(local, sync, here);
  expect(submitted).toBe(6);
  expect(await settled).toEqual({ refused: [] });
  const n = q.Select(['data', 'n'], q.Get(ref));
  expect(await hub.client().query<unknown>(n)).toBe(9007199254740993n);
});
