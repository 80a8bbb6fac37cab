import { expect, test, vi } from 'vitest';
import { openDatabase, q, UnavailableError } from '../../index.ts';
import { decodeWire } from '../queries/decode.ts';
import { startWorker } from './start-worker.ts';

const blobWorker = (code: string) => () =>
  new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })), {
    type: 'module',
  });

const memoryWorker = () =>
  new Worker(new URL('../../../worker/testing/memory-main.ts', import.meta.url), {
    type: 'module',
  });

test('openDatabase() explains that the file of the worker is missing', async () => {
  const missing = () => new Worker('/no/such/worker.js', { type: 'module' });
  const opening = openDatabase('none', { worker: missing });
  await expect(opening).rejects.toThrow('The database worker failed to load');
  await expect(opening).rejects.toThrow(/"\/no\/such\/worker\.js".*or pass the option `worker`/s);
  await expect(opening).rejects.toBeInstanceOf(UnavailableError);
});

test('openDatabase() rejects with the error that the worker throws while it loads', async () => {
  const opening = openDatabase('none', { worker: blobWorker('throw new Error("no crypto here")') });
  await expect(opening).rejects.toThrow('no crypto here');
});

test('startWorker() rejects if the worker does not answer in time', async () => {
  await expect(
    startWorker(blobWorker('self.onmessage = () => {}'), { readyMs: 100 }),
  ).rejects.toThrow('did not respond within 0.1 s');
});

test('startWorker() calls indexedDB.databases() in advance, and ignores its failure', async () => {
  const databases = vi.spyOn(indexedDB, 'databases').mockRejectedValue(new Error('not here'));
  try {
    const worker = await startWorker(memoryWorker);
    expect(databases).toHaveBeenCalledOnce();
    worker.terminate();
  } finally {
    databases.mockRestore();
  }
});

test('a terminated worker rejects pending queries, and the next query starts another', async () => {
  const workers: Worker[] = [];
  const db = await openDatabase('terminated', {
    worker: () => {
      const worker = memoryWorker();
      workers.push(worker);
      return worker;
    },
  });
  const pending = db.client().query(q.Now());
  workers[0]?.terminate();
  await expect(pending).rejects.toBeInstanceOf(UnavailableError);
  await expect(pending).rejects.toMatchObject({ code: 'worker_lost' });
  expect(await db.client().query('alive')).toBe('alive');
  expect(workers).toHaveLength(2);
  await db.close();
});

test('closing one database leaves the worker of another running', async () => {
  const [one, two] = await Promise.all([
    openDatabase('twice', { worker: memoryWorker }),
    openDatabase('twice', { worker: memoryWorker }),
  ]);
  await one.close();
  expect(await two.client().query('still')).toBe('still');
  await two.close();
});

/** Counts how many tasks of the event loop ran during the work. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener('message', () => {
    turns += 1;
    if (!isOver) port2.postMessage(undefined);
  });
  port1.start();
  port2.postMessage(undefined);
  await work();
  isOver = true;
  port1.close();
  return turns;
}

test('a page of 100,000 entries is decoded in many turns of the event loop', async () => {
  const ref = (id: number) =>
    `{"@ref":{"id":"3${String(id).padStart(17, '0')}","collection":{"@ref":{"id":"notes","collection":{"@ref":{"id":"collections"}}}}}}`;
  const text = `{"resource":{"data":[${Array.from({ length: 100_000 }, (_, id) => ref(id)).join()}]}}`;
  expect(text.length).toBeGreaterThan(11_000_000);
  let entries = 0;
  const turns = await turnsDuring(async () => {
    const { resource } = (await decodeWire(text)) as { resource: { data: unknown[] } };
    entries = resource.data.length;
  });
  expect(entries).toBe(100_000);
  expect(turns).toBeGreaterThan(5);
});
