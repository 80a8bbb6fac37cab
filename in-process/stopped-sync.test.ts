/** `sync.stop()` while a call of `db.sync()` is in progress. */
import { expect, onTestFinished, test } from 'vitest';
import { q } from '../src/index.ts';
import { openDatabase, openHub } from './testing.ts';
import { signUp, todos } from './testing/todo-kit.ts';

test('stop() also stops a sync that is still logging in', async () => {
  const hub = await openHub();
  onTestFinished(() => hub.close());
  const { login } = await signUp(hub);
  const db = await openDatabase();
  onTestFinished(() => db.close());
  const options = { url: hub.url, login, sets: [q.Documents(todos)] };
  const sync = await db.sync(options);
  await sync.whenSynced();

  const loggingIn = db.sync(options);
  await sync.stop();
  await expect(loggingIn).rejects.toMatchObject({ code: 'connection_needed' });
  expect(sync.state).toBe('offline');
  await expect(sync.whenSynced()).rejects.toMatchObject({ code: 'connection_needed' });

  await db.sync(options);
  await sync.whenSynced();
});
