import { expect, test } from 'vitest';
import { createMemoryStore } from '../../src/store/memory.ts';
import {
  DeviceWorld,
  everything,
  verdictOn,
  WELCOMED,
} from '../../src/sync/testing/device-world.ts';
import { WRITES_KEPT } from './leader.ts';
import type { SyncSession } from './session.ts';
import { syncedEngine } from './synced-engine.ts';

test('collectExpiredData() of an open copy removes writes that were confirmed long ago', async () => {
  const { engine, replica } = new DeviceWorld();
  await replica.adopt('hub', WELCOMED, 'd'.repeat(32));
  const fence = await replica.takeFence();
  await replica.submit({ query: '{"create_collection":{"object":{"name":"a"}}}', apiVersion: '4' });
  await replica.submit({ query: '{"create_collection":{"object":{"name":"b"}}}', apiVersion: '4' });
  const [first] = await replica.outgoing({ count: 1, chars: 1e6 });
  await replica.settle(fence, first ? [verdictOn(first, 'confirmed', 1)] : []);
  const pull = async (cursor: number) =>
    replica.apply(fence, await everything(createMemoryStore(), { lastSeq: 1, cursor }));
  await pull(1);
  const copy = syncedEngine(engine, {} as SyncSession, replica);
  const left = async (): Promise<readonly string[]> => {
    await copy.collectExpiredData();
    return (await replica.writes()).map(({ state }) => state);
  };
  expect(await left()).toEqual(['confirmed', 'local']);
  await pull(WRITES_KEPT + 2);
  expect(await left()).toEqual(['local']);
});
