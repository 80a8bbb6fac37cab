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
