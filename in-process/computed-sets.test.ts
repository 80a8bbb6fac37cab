/** Sets whose query reads documents: what a user keeps depends on what they are assigned to. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  q,
  type Arg,
  type Client,
  type Database,
  type DocumentRef,
  type Sync,
} from '../src/index.ts';
import { createNetwork, openDatabase, openHub, type TestHub, type TestNetwork } from './testing.ts';

const PASSWORD = 'correct horse battery';
const assignments = q.Collection('assignments');
const meters = q.Collection('meters');
const meterCount = q.Count(q.Documents(meters));
const me = q.CurrentIdentity();

/** The example of docs/sync.md: the meters of all sites that the user is assigned to. */
const sites = q.Paginate(q.Match(q.Index('sites_by_user'), me), { size: 60 });
const mine = q.Union(
  q.Select(
    'data',
    q.Map(sites, (site) => q.Match(q.Index('meters_by_site'), site)),
  ),
);

let hub: TestHub;
let admin: Client;
let network: TestNetwork;
let db: Database;
let sync: Sync;
let user: DocumentRef;

/** Three sites with two meters each. A user who is assigned to a site may read its meters. */
beforeEach(async () => {
  hub = await openHub();
  admin = hub.client();
  for (const name of ['users', 'sites', 'assignments', 'meters'])
    await admin.query(q.CreateCollection({ name }));
  const terms = (...names: string[]) => names.map((name) => ({ field: ['data', name] }));
  const source = assignments;
  await admin.query(
    q.Do(
      q.CreateIndex({
        name: 'sites_by_user',
        source,
        terms: terms('user'),
        values: terms('site'),
      }),
      q.CreateIndex({ name: 'assignment', source, terms: terms('user', 'site') }),
      q.CreateIndex({ name: 'meters_by_site', source: meters, terms: terms('site') }),
    ),
  );
  const isAssigned = (site: Arg) => q.Exists(q.Match(q.Index('assignment'), me, site));
  const ofSite = q.Query((ref) => isAssigned(q.Select(['data', 'site'], q.Get(ref))));
  const read = { read: true };
  await admin.query(
    q.CreateRole({
      name: 'reader',
      membership: { resource: q.Collection('users') },
      privileges: [
        { resource: q.Index('sites_by_user'), actions: read },
        { resource: q.Index('assignment'), actions: read },
        { resource: q.Index('meters_by_site'), actions: read },
        { resource: assignments, actions: read },
        { resource: meters, actions: { read: ofSite, write: ofSite } },
      ],
    }),
  );
  ({ ref: user } = await admin.query(
    q.Create(q.Collection('users'), { credentials: { password: PASSWORD } }),
  ));
  for (const id of ['1', '2', '3']) {
    const { ref: site } = await admin.query(q.Create(q.Ref(q.Collection('sites'), id), {}));
    for (const n of ['a', 'b'])
      await admin.query(q.Create(meters, { data: { site, serial: `${id}${n}` } }));
  }
  const { secret: key } = await admin.query(q.CreateKey({ role: 'client' }));
  network = createNetwork();
  db = await openDatabase('meters', { network });
  const login = { user, password: PASSWORD, key };
  sync = await db.sync({ url: hub.url, login, sets: [mine] });
});
afterEach(async () => {
  await db.close();
  await hub.close();
});

const assign = (id: string) =>
  admin.query(q.Create(assignments, { data: { user, site: q.Ref(q.Collection('sites'), id) } }));
const here = () => sync.client.query(meterCount);

test('documents come and go with the assignments from which a set is computed', async () => {
  await sync.whenSynced();
  expect(await here()).toBe(0);
  const { ref: first } = await assign('1');
  await expect.poll(here).toBe(2);
  await assign('3');
  await expect.poll(here).toBe(4);
  await admin.query(q.Delete(first));
  await expect.poll(here).toBe(2);
  await admin.query(
    q.Create(meters, { data: { site: q.Ref(q.Collection('sites'), '3'), serial: '3c' } }),
  );
  await expect.poll(here).toBe(3);
});
