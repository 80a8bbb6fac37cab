import { expect, test } from 'vitest';
import { q } from '../src/index.ts';
import { openDatabase, openHub } from './testing.ts';
import { describeTesting } from './testing.contract.ts';
import { signUp, todos } from './testing/todo-kit.ts';

describeTesting();

const ports = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;

test('close() leaves nothing that keeps a process running', async () => {
  const hub = await openHub();
  const { login } = await signUp(hub);
  const db = await openDatabase('todos', { log: { enabled: true } });
  const sync = await db.sync({ url: hub.url, login, sets: [q.Documents(todos)] });
  sync.client.subscribe(q.Count(q.Documents(todos)), { next: () => undefined });
  await sync.whenSynced();
  expect(ports()).toBeGreaterThan(0);
  await db.close();
  await hub.close();
  await expect.poll(ports).toBe(0);
});

// The emulated pages have a Blob of their own, for which Node makes no URL.
test('the query log is exported', async () => {
  const db = await openDatabase('notes', { log: { enabled: true } });
  await db.client().query(q.Now());
  const hour = 3_600_000;
  const { request_id: id } = await db.logs.request({
    time_start: new Date(Date.now() - hour),
    time_end: new Date(Date.now() + hour),
  });
  await expect.poll(async () => (await db.logs.status(id)).state).toBe('Complete');
  await db.close();
});
