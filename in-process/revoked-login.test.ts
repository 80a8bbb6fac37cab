/** A copy whose token the hub has revoked is locked until its user logs in again, by `sync()` or by `unlock()`. */
import { expect, onTestFinished, test } from 'vitest';
import { q } from '../src/index.ts';
import { createNetwork, openDatabase, openHub } from './testing.ts';
import { addMember, notes } from './testing/member.ts';

test('unlock() of a copy with a revoked token logs in again and sends waiting writes', async () => {
  const hub = await openHub();
  onTestFinished(() => hub.close());
  const admin = hub.client();
  const login = await addMember(admin);
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
