import { expect, test } from 'vitest';
import { Refusal } from '../src/errors.ts';
import type { WorkerMessage } from '../src/host/api.ts';
import { verify, type Opened } from './host-calls.ts';

test('verify() reports damaged parts of the store and damaged files, even if queries cannot read the store', async () => {
  const damaged = ['block 5 is damaged'];
  const sent: WorkerMessage[] = [];
  const database = {
    stored: { verify: async () => damaged },
    engine: { verify: () => Promise.reject(new Refusal('local_data_loss', 'block 5')) },
    sync: { files: { verify: async () => ['file:0a is damaged'] } },
  };
  const port = { postMessage: (message: WorkerMessage) => sent.push(message) };
  expect(await verify({ database, port } as unknown as Opened)).toEqual([
    ...damaged,
    'file:0a is damaged',
  ]);
  expect(sent.at(-1)).toMatchObject({ type: 'progress', isComplete: true });
});
