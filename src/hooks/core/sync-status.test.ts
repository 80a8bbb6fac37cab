import { expect, test } from 'vitest';
import type { Sync } from '../../index.ts';
import { copyAnswers, openFake, syncOptions } from '../../client/testing/fake-worker.ts';
import { watchOf } from './sync-status.ts';

test('state and reason stay consistent while there is no subscriber', async () => {
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

/** A sync whose lists of writes arrive when the test gives them. */
function fakeSync() {
  const sync = new EventTarget();
  const lists: ((states: readonly string[]) => void)[] = [];
  const list = () =>
    new Promise((resolve) => {
      lists.push((states) => resolve(states.map((state) => ({ state }))));
    });
  Object.assign(sync, { state: 'live', lostWrites: 0, writes: { list } });
  return {
    watch: watchOf(sync as Sync),
    lists,
    verdict: () => sync.dispatchEvent(new Event('verdict')),
    progress: (pending: number) =>
      sync.dispatchEvent(new CustomEvent('progress', { detail: { pending } })),
  };
}

test('all verdicts that arrive during a listing cause one more listing', async () => {
  const { watch, lists, verdict } = fakeSync();
  const stop = watch.subscribe(() => undefined);
  for (let times = 0; times < 1000; times++) verdict();
  expect(lists.length).toBe(1);
  lists[0]?.(['local', 'local']);
  await expect.poll(() => lists.length).toBe(2);
  lists[1]?.(['refused']);
  await expect.poll(() => watch.get()).toMatchObject({ pending: 0, refused: [{}] });
  expect(lists.length).toBe(2);
  stop();
});

test('`pending` is the last progress event, until a listing without one during it', async () => {
  const { watch, lists, progress } = fakeSync();
  const stop = watch.subscribe(() => undefined);
  progress(1);
  lists[0]?.(['local', 'local', 'refused']);
  await expect.poll(() => lists.length).toBe(2);
  expect(watch.get()).toMatchObject({ pending: 1, refused: [{}] });
  // The progress event was older than the list: a verdict came in between, and then the network was lost.
  lists[1]?.(['refused']);
  await expect.poll(() => watch.get().pending).toBe(0);
  expect(lists.length).toBe(2);
  stop();
});
