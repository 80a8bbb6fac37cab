import { expect, test } from 'vitest';
import { copyAnswers, openFake, syncOptions } from '../../client/testing/fake-worker.ts';
import { watchOf } from './sync-status.ts';

test('the reason of a state goes with it while nobody listens', async () => {
  const { db, fake } = await openFake(copyAnswers);
  const sync = await db.sync(syncOptions);
  const watch = watchOf(sync);
  const stop = watch.subscribe(() => undefined);
  fake.emit({ type: 'sync-state', state: 'offline', reason: 'No network.' });
  await expect.poll(() => watch.get()).toMatchObject({ state: 'offline', reason: 'No network.' });
  stop();
  watch.subscribe(() => undefined)();
  expect(watch.get()).toMatchObject({ state: 'offline', reason: 'No network.' });
  fake.emit({ type: 'sync-state', state: 'live', reason: undefined });
  await expect.poll(() => sync.state).toBe('live');
  watch.subscribe(() => undefined)();
  expect(watch.get()).toMatchObject({ state: 'live', reason: undefined });
  await db.close();
});
