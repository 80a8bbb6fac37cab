import { queryObjects } from 'node:v8';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ref } from 'vue';
import { Database } from '../src/client/database.ts';
import { Expr, FaunaTime, q } from '../src/index.ts';
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

test('closed databases are garbage collected', async () => {
  const inMemory = (): number => queryObjects(Database, { format: 'count' });
  const before = inMemory();
  for (let i = 0; i < 20; i++) {
    const db = await openDatabase();
    await db.client().query(q.Add(1, 2));
    await (i % 2 === 0 ? db.close() : db.destroy());
  }
  // Work that the last databases have begun may still be finishing.
  await expect.poll(inMemory).toBeLessThan(before + 5);
});

// Vue wraps the value of a ref in a proxy, and a proxy has none of the private members of its target.
test('objects of the API work inside a ref of Vue', async () => {
  const hub = await openHub();
  const { login } = await signUp(hub);
  const db = ref(await openDatabase('todos', { log: { enabled: true } }));
  const client = ref(db.value.client());
  expect(await client.value.query(q.Add(1, 2))).toBe(3);
  const sync = ref(await db.value.sync({ url: hub.url, login, sets: [q.Documents(todos)] }));
  await sync.value.whenSynced();
  expect(await sync.value.writes.list()).toEqual([]);
  const helper = ref(sync.value.client.paginate(q.Documents(todos)));
  expect(await helper.value.nextPage()).toEqual([]);
  const logs = ref(db.value.logs);
  const [time_start, time_end] = [new Date(Date.now() - 1000), new Date()];
  expect(await logs.value.request({ time_start, time_end })).toHaveProperty('request_id');
  const value = ref({ made: new FaunaTime('2020-01-01T00:00:00Z'), note: new Expr({}) });
  expect(String(value.value.made)).toContain('2020-01-01T00:00:00Z');
  await db.value.close();
  await hub.close();
});

/** Web Locks, as browsers and newer versions of Node have them. */
class Locks {
  readonly requested: string[] = [];
  private readonly held = new Set<string>();

  async request(name: string, ...rest: readonly unknown[]): Promise<unknown> {
    const body = rest.at(-1) as (lock: object | null) => unknown;
    const { ifAvailable = false } = (rest.length > 1 ? rest[0] : {}) as LockOptions;
    this.requested.push(name);
    if (this.held.has(name)) return ifAvailable ? body(null) : new Promise(() => undefined);
    this.held.add(name);
    try {
      return await body({});
    } finally {
      this.held.delete(name);
    }
  }
}

test('a database in memory takes no locks by its name, because an ended worker in this thread would keep them', async () => {
  const locks = new Locks();
  vi.stubGlobal('navigator', { locks });
  onTestFinished(() => void vi.unstubAllGlobals());
  const hub = await openHub();
  const { login } = await signUp(hub);
  for (const db of [await openDatabase('todos'), await openDatabase('todos')]) {
    onTestFinished(() => db.close());
    const sync = await db.sync({ url: hub.url, login, sets: [q.Documents(todos)] });
    await sync.whenSynced();
    await db.files.put(new Blob(['a photo']));
    await db.files.whenSent();
  }
  await hub.close();
  expect(locks.requested.length).toBeGreaterThan(0);
  expect(locks.requested.filter((name) => !name.startsWith('burrow:alive:'))).toEqual([]);
});

// The emulated pages have a Blob class of their own, for which Node creates no URLs.
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
