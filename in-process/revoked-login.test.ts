/** A copy whose token the hub has revoked is locked until its user logs in again, by `sync()` or by `unlock()`. */
import { expect, onTestFinished, test } from 'vitest';
import { q } from '../src/index.ts';
import { createNetwork, openDatabase, openHub } from './testing.ts';

test('unlock() of a copy with a revoked token logs in again and sends waiting writes', async () => {
  const hub = await openHub();
  onTestFinished(() => hub.close());
  const admin = hub.client();
  await admin.query(
    q.Do(q.CreateCollection({ name: 'users' }), q.CreateCollection({ name: 'notes' })),
  );
  const user = q.Ref(q.Collection('users'), '1');
  const notes = q.Collection('notes');
  await admin.query(q.Create(user, { credentials: { password: 'secret' } }));
  await admin.query(
    q.CreateRole({
      name: 'member',
      membership: { resource: q.Collection('users') },
      privileges: [{ resource: notes, actions: { read: true, create: true } }],
    }),
  );
  const { secret: key } = await admin.query(q.CreateKey({ role: 'client' }));
  const login = { user, password: 'secret', key };
  const network = createNetwork();
  const db = await openDatabase('copy', { network });
  onTestFinished(() => db.close());
  const sync = await db.sync({ url: hub.url, login, sets: [q.Documents(notes)] });
  await sync.whenSynced();
  const locked = new Promise<void>((resolve) =>
    sync.addEventListener('state', ({ detail }) => detail.state === 'locked' && resolve()),
  );
  network.offline();
  const { settled } = await sync.client.submit(q.Create(notes, { data: { n: 1 } }));
  await admin.query(q.Map(q.Paginate(q.Documents(q.Tokens())), (token) => q.Delete(token)));
  network.online();
  await locked;

  await expect(db.unlock({ ...login, password: 'wrong' })).rejects.toMatchObject({
    code: 'authentication failed',
  });
  expect(sync.state).toBe('locked');
  await db.unlock(login);
  expect(await settled).toMatchObject({ state: 'confirmed' });
  expect(await sync.client.query(q.Count(q.Documents(notes)))).toBe(1);
});
