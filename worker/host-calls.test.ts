import { expect, test, vi } from 'vitest';
import { Refusal } from '../src/errors.ts';
import type { WorkerMessage } from '../src/host/api.ts';
import { openMemoryHost } from '../src/http/testing/memory-host.ts';
import { onMessage, verify, type Opened } from './host-calls.ts';
import { QueryRunner } from './queries/query-runner.ts';

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

/** A database with a query log, as far as `onMessage()` needs it. */
async function openLogged() {
  const { http, admin: secret } = await openMemoryHost();
  const { log } = http;
  const runner = new QueryRunner(http);
  const stored = { maybeFlush: () => Promise.resolve() };
  const call = {
    secret,
    query: '1',
    timeoutMs: undefined,
    tags: undefined,
    traceparent: undefined,
  };
  /** Whether all records are written within some turns of the event loop. `expect.poll` would advance the timers. */
  const isWritten = async () => {
    for (let turn = 0; turn < 100 && log.isDirty; turn += 1)
      await new Promise((resolve) => setImmediate(resolve));
    return !log.isDirty;
  };
  return {
    opened: { database: { http, stored }, runner } as unknown as Opened,
    run: () => runner.run(call, {}),
    isWritten,
    counts: () => log.counts,
  };
}

test('the first query after a pause is written to the query log at once, later ones together', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { run, isWritten, counts } = await openLogged();
    for (const _ of ['first', 'after a pause']) {
      await run();
      expect(await isWritten()).toBe(true);
      await run();
      await run();
      vi.advanceTimersByTime(1999);
      expect(await isWritten()).toBe(false);
      vi.advanceTimersByTime(1);
      expect(await isWritten()).toBe(true);
      vi.advanceTimersByTime(2000);
    }
    expect(counts()).toEqual({ recorded: 6, lost: 0 });
  } finally {
    vi.useRealTimers();
  }
});

test('when the page is hidden, the queries so far are written to the query log at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { opened, run, isWritten, counts } = await openLogged();
    await run();
    await isWritten();
    await run();
    expect(await isWritten()).toBe(false);
    onMessage(opened, { type: 'hidden' });
    expect(await isWritten()).toBe(true);
    expect(counts()).toEqual({ recorded: 2, lost: 0 });
  } finally {
    vi.useRealTimers();
  }
});
