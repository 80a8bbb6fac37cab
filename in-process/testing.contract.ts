/** What `burrowdb/testing` guarantees in every environment in which its tests run. */
import { expect, test } from 'vitest';
import { METRIC_NAMES } from '../src/client/testing/metric-names.ts';
import { DatabaseClosed, NotFound, q, QueryError, Unauthorized, UsageError } from '../src/index.ts';
import { createClock, createNetwork, openDatabase, openHub } from './testing.ts';
import { signUp, todos } from './testing/todo-kit.ts';

export function describeTesting(): void {
  test('openDatabase() opens an empty database with the API of the page', async () => {
    const db = await openDatabase();
    const admin = db.client();
    await admin.query(q.CreateCollection({ name: 'todos' }));
    const { ref, data } = await admin.query(q.Create(todos, { data: { title: 'a heron' } }));
    expect(data).toEqual({ title: 'a heron' });
    const titles: string[] = [];
    for await (const page of admin.paginate(q.Documents(todos))) {
      for (const each of page) titles.push((await admin.query(q.Get(each))).data.title);
    }
    expect(titles).toEqual(['a heron']);
    await admin.query(q.Delete(ref));
    await expect(admin.query(q.Get(ref))).rejects.toBeInstanceOf(NotFound);
    await expect(db.client({ secret: 'none' }).query(q.Now())).rejects.toBeInstanceOf(Unauthorized);
    expect(await db.verify()).toEqual([]);
    await db.close();
    await expect(admin.query(q.Now())).rejects.toBeInstanceOf(DatabaseClosed);
  });

  test('queryWithMetrics() gives the nine metrics by the names of the original', async () => {
    const db = await openDatabase();
    const { metrics } = await db.client().queryWithMetrics(q.Now());
    expect(Object.keys(metrics).sort()).toEqual(METRIC_NAMES);
    await db.close();
  });

  test('subscribe() receives each value of a query', async () => {
    const db = await openDatabase();
    const admin = db.client();
    await admin.query(q.CreateCollection({ name: 'todos' }));
    const counts: number[] = [];
    const stop = admin.subscribe(q.Count(q.Documents(todos)), {
      next: (each) => counts.push(each),
    });
    await expect.poll(() => counts).toEqual([0]);
    await admin.query(q.Create(todos, { data: { title: 'a heron' } }));
    await expect.poll(() => counts).toEqual([0, 1]);
    stop();
    await db.close();
  });

  test('two databases with the same name are independent', async () => {
    const [one, two] = await Promise.all([openDatabase('notes'), openDatabase('notes')]);
    await one.client().query(q.CreateCollection({ name: 'todos' }));
    expect(await two.client().query(q.Exists(todos))).toBe(false);
    await Promise.all([one.close(), two.close()]);
  });

  test('db.fetch answers queries and streams', async () => {
    const db = await openDatabase('notes');
    const admin = db.client();
    await admin.query(q.CreateCollection({ name: 'todos' }));
    const { ref } = await admin.query(q.Create(todos, { data: { title: 'a heron' } }));
    const headers = { authorization: `Bearer ${db.rootSecret}` };
    const body = JSON.stringify(q.Collection('todos'));
    const answer = await db.fetch('http://local/', { method: 'POST', headers, body });
    expect(await answer.json()).toEqual({ resource: { '@ref': expect.anything() as unknown } });
    const stream = await db.fetch('http://local/stream', {
      method: 'POST',
      headers,
      body: JSON.stringify(ref),
    });
    const reader = stream.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toContain('"type":"start"');
    await reader?.cancel();
    await db.close();
  });

  test('a user logs in with a password, signs out and unlocks the database', async () => {
    const db = await openDatabase();
    const admin = db.client();
    await admin.query(q.CreateCollection({ name: 'users' }));
    const user = q.Ref(q.Collection('users'), '1');
    const password = 'secret';
    await admin.query(q.Create(user, { credentials: { password } }));
    const wrong = admin.query(q.Login(user, { password: 'wrong' }));
    await expect(wrong).rejects.toMatchObject({ code: 'authentication failed' });
    const { secret } = await admin.query(q.Login(user, { password }));
    expect(await db.client({ secret }).query(q.HasCurrentIdentity())).toBe(true);
    await db.signOut();
    await expect(admin.query(q.Now())).rejects.toMatchObject({ code: 'locked' });
    await db.unlock({ user, password });
    expect(await db.client().query(q.Exists(user))).toBe(true);
    await db.close();
  });

  test('a test clock can be set and advanced', async () => {
    const clock = createClock();
    clock.set('2031-05-04T12:00:00Z');
    const db = await openDatabase('notes', { clock });
    const admin = db.client();
    const year = () => admin.query(q.Year(q.Now()));
    expect(await year()).toBe(2031);
    await admin.query(q.CreateCollection({ name: 'todos' }));
    const { ref } = await admin.query(
      q.Create(todos, { data: { title: 'a heron' }, ttl: q.TimeAdd(q.Now(), 1, 'day') }),
    );
    clock.advance({ days: 366 });
    expect(await year()).toBe(2032);
    // Expired documents disappear with the next commit: a change of the clock alone removes nothing.
    await admin.query(q.Create(todos, { data: { title: 'a wren' } }));
    expect(await admin.query(q.Exists(ref))).toBe(false);
    expect(() => clock.set('noon')).toThrow(RangeError);
    const before = clock.now().getTime();
    expect(() => clock.advance({ day: 1 } as never)).toThrow('Did you mean `days`?');
    expect(() => clock.advance(null as never)).toThrow(UsageError);
    for (const days of [Number.NaN, '1' as never])
      expect(() => clock.advance({ days })).toThrow(RangeError);
    expect(clock.now().getTime() - before).toBeLessThan(3_600_000);
    await db.close();
  });

  test('a write made offline reaches the hub when the network is back', async () => {
    const hub = await openHub();
    const { login } = await signUp(hub);
    const network = createNetwork();
    const db = await openDatabase('todos', { network });
    const sync = await db.sync({ url: hub.url, login, sets: [q.Documents(todos)] });
    await sync.whenSynced();
    network.offline();
    await expect.poll(() => sync.state).toBe('offline');
    const write = q.Create(todos, { data: { title: 'a heron' } });
    const { value, settled } = await sync.client.submit(write, { label: 'add “a heron”' });
    expect(value?.data.title).toBe('a heron');
    expect(await sync.writes.list()).toMatchObject([{ state: 'local', label: 'add “a heron”' }]);
    const count = q.Count(q.Documents(todos));
    expect(await hub.client().query(count)).toBe(0);
    network.online();
    expect(await settled).toMatchObject({ state: 'confirmed' });
    expect(await hub.client().query(count)).toBe(1);
    await db.close();
    await hub.close();
  });

  test('a write of one device appears on another device of the same user', async () => {
    const hub = await openHub();
    const { login } = await signUp(hub);
    const sets = [q.Documents(todos)];
    const devices = [await openDatabase('phone'), await openDatabase('laptop')] as const;
    const [phone, laptop] = await Promise.all(
      devices.map((db) => db.sync({ url: hub.url, login, sets })),
    );
    const counts: number[] = [];
    laptop?.client.subscribe(q.Count(q.Documents(todos)), { next: (each) => counts.push(each) });
    await phone?.client.query(q.Create(todos, { data: { title: 'a heron' } }));
    await expect.poll(() => counts.at(-1)).toBe(1);
    for (const db of devices) await db.close();
    await hub.close();
  });

  test('a live query is answered by the hub while it can be reached', async () => {
    const hub = await openHub();
    const admin = hub.client();
    const { login } = await signUp(hub);
    const network = createNetwork();
    const db = await openDatabase('todos', { network });
    const sync = await db.sync({ url: hub.url, login, sets: [] });
    await sync.whenSynced();
    const received: string[] = [];
    const stop = sync.client.subscribe(
      q.Count(q.Documents(todos)),
      {
        next: (count, { from }) => void received.push(`${count} ${from}`),
        error: ({ code }) => void received.push(code),
      },
      { at: 'hub-or-copy' },
    );
    const last = () => received.at(-1);
    await expect.poll(last).toBe('0 hub');
    await admin.query(q.Create(todos, { data: { title: 'a heron' } }));
    await expect.poll(last).toBe('1 hub');
    network.offline();
    await expect.poll(last).toBe('0 device');
    network.online();
    await expect.poll(last).toBe('1 hub');
    await admin.query(q.Delete(q.Role('member')));
    await expect.poll(last).toBe('0 hub');
    stop();
    await db.close();
    await hub.close();
  });

  test('a write that the hub refuses settles as refused, with its error', async () => {
    const hub = await openHub();
    const { login } = await signUp(hub);
    const network = createNetwork();
    const db = await openDatabase('todos', { network });
    const sync = await db.sync({ url: hub.url, login, sets: [q.Documents(todos)] });
    await sync.whenSynced();
    network.offline();
    const { settled } = await sync.client.submit(q.Create(todos, { data: { title: 'a heron' } }));
    await hub.client().query(q.Delete(q.Role('member')));
    network.online();
    expect(await settled).toMatchObject({
      state: 'refused',
      error: expect.any(QueryError) as Error,
    });
    await db.close();
    await hub.close();
  });

  test('a user who has logged in on the device can log in offline', async () => {
    const hub = await openHub();
    const { login } = await signUp(hub);
    const network = createNetwork();
    const db = await openDatabase('todos', { network });
    const options = { url: hub.url, login, sets: [q.Documents(todos)] };
    await (await db.sync(options)).whenSynced();
    await db.signOut();
    network.offline();
    await db.unlock({ user: login.user, password: login.password });
    const sync = await db.sync(options);
    expect(await sync.client.query(q.Count(q.Documents(todos)))).toBe(0);
    await db.close();
    await hub.close();
  });

  test('a first sync fails offline', async () => {
    const hub = await openHub();
    const network = createNetwork();
    network.offline();
    expect(network.isOnline).toBe(false);
    const db = await openDatabase('todos', { network });
    const failing = db.sync({ url: hub.url, secret: hub.rootSecret, sets: [] });
    await expect(failing).rejects.toMatchObject({ code: 'connection_needed' });
    await db.close();
    await hub.close();
  });

  test('hub and devices can share a test clock', async () => {
    const clock = createClock();
    clock.set('2031-05-04');
    const hub = await openHub({ clock });
    const { login } = await signUp(hub);
    const db = await openDatabase('todos', { clock });
    const sync = await db.sync({ url: hub.url, login, sets: [q.Documents(todos)] });
    clock.advance({ days: 1, hours: 1 });
    const { settled } = await sync.client.submit(q.Create(todos, { data: { title: 'a heron' } }));
    const verdict = await settled;
    const micros = 'value' in verdict ? (verdict.value?.ts ?? 0) : 0;
    expect(new Date(micros / 1000).toISOString().slice(0, 10)).toBe('2031-05-05');
    await db.close();
    await hub.close();
  });

  test('unknown options and other clocks are refused', async () => {
    // @ts-expect-error: there is none of this name
    const misspelt = openDatabase('notes', { durabilty: 'strict' });
    await expect(misspelt).rejects.toBeInstanceOf(UsageError);
    const now = { now: () => new Date(), set: () => undefined, advance: () => undefined };
    await expect(openDatabase('notes', { clock: now })).rejects.toBeInstanceOf(UsageError);
  });

  test('a hub refuses an unknown secret', async () => {
    const hub = await openHub();
    await expect(hub.client({ secret: 'none' }).query(q.Now())).rejects.toBeInstanceOf(
      Unauthorized,
    );
    expect(await hub.client({ secret: hub.rootSecret }).query(q.Add(1, 2))).toBe(3);
    await hub.close();
  });

  test('queries of hub.client() are answered by the hub', async () => {
    const hub = await openHub();
    const asked = q.Add(1, 2);
    const client = hub.client();
    expect(await client.queryWithMetrics(asked)).toMatchObject({ value: 3, from: 'hub' });
    const places = new Promise((resolve) => {
      client.subscribe(asked, { next: (_, { from }) => resolve(from) });
    });
    expect(await places).toBe('hub');
    await hub.close();
  });

  test('the sync is offline after the hub is closed', async () => {
    const hub = await openHub();
    const { login } = await signUp(hub);
    const db = await openDatabase('todos');
    const sync = await db.sync({ url: hub.url, login, sets: [q.Documents(todos)] });
    await hub.close();
    await expect.poll(() => sync.state).toBe('offline');
    await db.close();
  });
}
