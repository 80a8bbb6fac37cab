/** A copy of a database that is renamed or moved at its hub. */
import { expect, onTestFinished, test } from 'vitest';
import { q } from '../src/index.ts';
import { createNetwork, openDatabase, openHub, type TestHub } from './testing.ts';
import { addMember, notes } from './testing/member.ts';

/** A new child database of the hub with a user. */
async function openTenant(hub: TestHub, name: string) {
  const root = hub.client();
  await root.query(q.CreateDatabase({ name }));
  const { secret } = await root.query(q.CreateKey({ role: 'admin', database: q.Database(name) }));
  const admin = hub.client({ secret });
  return { admin, login: await addMember(admin) };
}

test.each([
  ['renamed', q.Update(q.Database('before'), { name: 'after' })],
  ['moved', q.MoveDatabase(q.Database('before'), q.Database('parent'))],
])(
  'the copy of a database that was %s sends its writes and accepts its user',
  async (_, change) => {
    const hub = await openHub();
    onTestFinished(() => hub.close());
    await hub.client().query(q.CreateDatabase({ name: 'parent' }));
    const { admin, login } = await openTenant(hub, 'before');
    const network = createNetwork();
    const db = await openDatabase('copy', { network });
    onTestFinished(() => db.close());
    const sync = await db.sync({ url: hub.url, login, sets: [q.Documents(notes)] });
    await sync.whenSynced();
    network.offline();
    const { settled } = await sync.client.submit(q.Create(notes, { data: { n: 1 } }));
    await hub.client().query(change);
    network.online();
    expect(await settled).toMatchObject({ state: 'confirmed' });
    await db.sync({ url: hub.url, login, sets: [q.Documents(notes)] });
    expect(await admin.query(q.Count(q.Documents(notes)))).toBe(1);
  },
);
