import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { SETTINGS } from '../../host/settings.ts';
import { readOptions } from '../read-options.ts';
import { FakeWorker } from '../testing/fake-worker.ts';
import { Connection } from './connection.ts';

const OPTIONS = {
  name: 'notes',
  settings: readOptions(SETTINGS, {}),
  rootSecret: undefined,
  birth: undefined,
  syncSecret: undefined,
  aliveLock: 'alive',
};

const open = async (signal: AbortSignal): Promise<Connection> => {
  const worker = new FakeWorker().asWorker();
  const handlers = { onMessage: () => undefined, onLost: () => undefined };
  return (await Connection.open(worker, OPTIONS, handlers, signal)).connection;
};

test('connections that have ended leave nothing on the signal of their page', async () => {
  const { signal } = new AbortController();
  const [ended, retired] = [await open(signal), await open(signal)];
  expect(getEventListeners(signal, 'abort')).toHaveLength(2);
  ended.end(new Error('Ended.'));
  await retired.retire(new Error('Retired.'));
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
