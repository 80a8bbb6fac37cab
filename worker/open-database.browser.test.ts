import { expect, test } from 'vitest';
import { Refusal } from '../src/errors.ts';
import { readOptions } from '../src/client/read-options.ts';
import { SETTINGS } from '../src/host/settings.ts';
import { openDatabase } from './open-database.ts';
import { joinTabs } from './opening/join-tabs.ts';
import type { TabMessage } from './tabs/tabs.ts';

const HANDLERS = { onDestroyed: () => undefined, onLock: () => undefined };

test('a tab that fails to open its database tells the others, which may hold the lease again', async () => {
  const name = `unopened ${Math.random()}`;
  const other = joinTabs(name, HANDLERS);
  await other.ready;
  expect(other.lease?.isHeld()).toBe(true);
  const messages: string[] = [];
  const channel = new BroadcastChannel(`burrow:${name}`);
  channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) =>
    messages.push(data.type),
  );
  const noStore = new Refusal('storage_unavailable', 'no store');
  const opening = openDatabase(
    {
      openStore: () => Promise.reject(noStore),
      destroyStore: () => Promise.resolve(),
      isShared: true,
    },
    {
      name,
      settings: readOptions(SETTINGS, {}),
      aliveLock: `alive ${name}`,
      rootSecret: undefined,
      birth: undefined,
      syncSecret: undefined,
    },
    { ...HANDLERS, emit: () => undefined, onClosed: () => undefined },
  );
  await expect(opening).rejects.toBe(noStore);
  await expect.poll(() => messages).toEqual(['opening', 'left']);
  await expect.poll(() => other.lease?.isHeld()).toBe(true);
  other.leave();
  channel.close();
});
