import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { copyAnswers, openFake, syncOptions } from '../../client/testing/fake-worker.ts';
import type { Database, Sync } from '../../index.ts';
import { Session } from './session.ts';

const listenersOf = (db: Database, sync: Sync): number =>
  ['locked', 'unlocked', 'closed'].reduce(
    (sum, type) => sum + getEventListeners(db, type).length,
    getEventListeners(sync, 'state').length,
  );

test('a session that is stopped leaves nothing on a database that outlives it, and can be started again', async () => {
  const { db } = await openFake(copyAnswers);
  const sync = await db.sync(syncOptions);
  let opened = 0;
  const session = new Session({ database: () => (opened++, db), sync: syncOptions });
  const before = listenersOf(db, sync);
  // As React does in its strict mode.
  session.start()();
  for (let times = 0; times < 3; times++) {
    const stop = session.start();
    await expect.poll(() => listenersOf(db, sync)).toBe(before + 4);
    expect(session.get().state).toBe('logged-in');
    const changes: string[] = [];
    const unsubscribe = session.subscribe(() => changes.push(session.get().state));
    stop();
    expect(listenersOf(db, sync)).toBe(before);
    expect(session.get().client).toBe(sync.client);
    unsubscribe();
    expect(changes).toEqual([]);
  }
  expect(opened).toBe(1);
  await db.close();
});

test.each([
  ['a database', (db: Database) => db],
  ['a promise of one', (db: Database) => Promise.resolve(db)],
  ['a function that gives the same again', (db: Database) => () => db],
])('%s that logOut({ forget: true }) has deleted is not logged in to', async (_, given) => {
  const { db } = await openFake();
  const session = new Session({ database: given(db) });
  session.start();
  await expect.poll(() => session.get().state).toBe('logged-in');
  await session.logOut({ forget: true });
  await expect.poll(() => session.get().state).not.toBe('opening');
  expect(session.get()).toMatchObject({ state: 'failed', error: { code: 'database_closed' } });
});
