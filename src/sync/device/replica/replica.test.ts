import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { documentKey } from '../../../codec/key.ts';
import { sha256 } from '../../../engine/testing/sha256.ts';
import { repeated } from '../../../engine/testing/large-values.ts';
import { createMemoryStore } from '../../../store/memory.ts';
import { FailingStore } from '../../../store/testing/failing-store.ts';
import { when } from '../../testing/simulation/sim-schema.ts';
import { SYNC_PROTOCOL } from '../../protocol/messages.ts';
import { derivedIds } from '../../protocol/digest.ts';
import {
  ADMIN,
  answerFor,
  DeviceWorld,
  everything,
  verdictOn,
  WELCOMED,
} from '../../testing/device-world.ts';
import {
  addToFirst,
  NOTES_PART,
  createNote as create,
  firstNote,
  notes,
  notesPage as page,
  noteWorlds as worlds,
} from '../../testing/note-worlds.ts';
import { Fenced } from '../state/fence.ts';
import { Replica } from './replica.ts';

const byN = (n: number) => ({ count: { match: { index: 'by_n' }, terms: n } });

test('apply() shows the documents of the hub by collection and by index', async () => {
  const { device } = await worlds();
  expect(await device.see(page)).toEqual({ data: [1] });
  expect(await device.see(byN(1))).toBe(1);
});

test('submit() shows a write at once, in every tab and after reopening', async () => {
  const { device, memory } = await worlds();
  const other = new DeviceWorld(createMemoryStore(memory));
  expect(await other.see(page)).toEqual({ data: [1] });
  await device.submit(create(2));
  expect(await device.see(page)).toEqual({ data: [1, 2] });
  expect(await other.see(page)).toEqual({ data: [1, 2] });
  expect(await other.see(byN(2))).toBe(1);
  const reopened = new DeviceWorld(createMemoryStore(memory));
  expect(await reopened.see(page)).toEqual({ data: [1, 2] });
  expect(await reopened.asRoot(byN(2))).toBe(1);
});

/** A device whose clock is three hours ahead of the hub's. */
async function fastDevice() {
  const { device } = await worlds();
  const { replica } = device;
  const ahead = 3 * 3_600_000_000;
  const fence = await replica.takeFence();
  const arrived = (device.now += ahead);
  const welcome = {
    ...WELCOMED,
    protocol: SYNC_PROTOCOL,
    device: '1d'.repeat(16),
    hubTime: arrived - ahead,
    lastSeq: 0,
    expiresAt: undefined,
    passwordSetAt: undefined,
  };
  await replica.applyWelcome(fence, welcome, arrived);
  return { device, ahead };
}

test('Now() is the time of the hub in reads and writes, even if the clock of the device is wrong', async () => {
  const { device, ahead } = await fastDevice();
  const { replica } = device;
  const now = async () => Number(await device.see({ to_micros: { now: null } }));
  const hubTime = device.now - ahead;
  expect(await now()).toBeGreaterThanOrEqual(hubTime);
  expect(await now()).toBeLessThan(hubTime + 1_000_000);
  // When the clock is corrected, time does not go back.
  await device.submit(create(2));
  const [item] = await replica.outgoing({ count: 1, chars: 1e9 });
  device.now -= ahead;
  expect(await now()).toBeGreaterThanOrEqual(item!.now);
});

test('Now() and a write to a pulled document are not before its version of the hub, even if the clock of the device is behind', async () => {
  const { hub } = await worlds();
  const device = new DeviceWorld();
  device.now = hub.now - 10 * 3_600_000_000;
  await device.replica.adopt('https://hub', WELCOMED, 'd1');
  const fence = await device.replica.takeFence();
  await device.replica.apply(fence, await everything(hub.store));
  const time = { select: 'ts', from: { get: firstNote } };
  const before = await device.see(time);
  expect(await device.see({ to_micros: { now: null } })).toBeGreaterThanOrEqual(before as number);
  await device.submit(addToFirst(1));
  expect(await device.see(time)).toBeGreaterThan(before as number);
});

test('a document expires by the time of the hub, even if the clock of the device is wrong', async () => {
  const { device, ahead } = await fastDevice();
  const ttl = { time_add: { now: null }, offset: 1, unit: 'hour' };
  await device.submit({ create: notes, params: { object: { data: { object: { n: 2 } }, ttl } } });
  expect(await device.see(page)).toEqual({ data: [1, 2] });
  expect(await device.see(byN(2))).toBe(1);
  // The clock is corrected.
  device.now -= ahead;
  expect(await device.see(byN(2))).toBe(1);
  device.now += ahead + 2 * 3_600_000_000;
  expect(await device.see(page)).toEqual({ data: [1] });
  expect(await device.see(byN(2))).toBe(0);
});

test('read() executes a query elsewhere only if it takes longer than its turn', async () => {
  const { device } = await worlds();
  const elsewhere: string[] = [];
  const replica = new Replica({
    engine: device.engine,
    view: device.view,
    clock: () => device.now,
    random: (count) => new Uint8Array(randomBytes(count)),
    sha256,
    longQueries: {
      whenFree: () => undefined,
      turnMs: () => -1,
      execute: (request) => {
        elsewhere.push(request.query);
        return device.replica.read(request);
      },
    },
  });
  const read = async (query: unknown) => {
    const { body } = await replica.read({ query: JSON.stringify(query), apiVersion: '4' });
    return (JSON.parse(body) as { resource: unknown }).resource;
  };
  expect(await read(page)).toEqual({ data: [1] });
  expect(elsewhere).toEqual([]);
  const long = [repeated(2000, 1), page];
  expect(await read(long)).toEqual([2000, { data: [1] }]);
  expect(elsewhere).toEqual([JSON.stringify(long)]);
});

test('submit() numbers writes of two tabs without a gap', async () => {
  const { device, memory } = await worlds();
  const other = new DeviceWorld(createMemoryStore(memory));
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => (i % 2 ? device : other).submit(create(i))),
  );
  const items = await device.replica.outgoing({ count: 100, chars: 1e9 });
  expect(items.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  expect(new Set(items.map(({ now }) => now)).size).toBe(20);
});

test('submit() gives equal writes that are made at once different times', async () => {
  const { device, memory } = await worlds();
  const tabs = [device, new DeviceWorld(createMemoryStore(memory))];
  const now = Math.max(...tabs.map((tab) => tab.now));
  for (const tab of tabs) tab.now = now;
  await Promise.all(tabs.map((tab) => tab.submit(create(2))));
  const [first, second] = await device.replica.outgoing({ count: 9, chars: 1e9 });
  expect(second!.now).toBeGreaterThan(first!.now);
});

test('submit() of two writes at once shows them over a write of another tab that was first', async () => {
  const { device, memory } = await worlds();
  expect(await device.see(page)).toEqual({ data: [1] });
  await new DeviceWorld(createMemoryStore(memory)).submit(create(2));
  await Promise.all([3, 4].map((n) => device.submit(create(n))));
  const { data } = (await device.see(page)) as { data: number[] };
  expect(data.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
});

test('submit() of a query that fails stores nothing', async () => {
  const { device } = await worlds();
  await expect(device.submit({ abort: 'no' })).rejects.toThrow('no');
  expect(await device.replica.writes()).toEqual([]);
});

test('submit() that fails at any call of the store leaves neither data nor a write in the outbox (L6)', async () => {
  const { memory } = await worlds();
  const store = new FailingStore(createMemoryStore(memory));
  let failures = 0;
  for (let call = 1; ; call += 1) {
    // A new tab has read nothing, so it makes all calls of the store.
    const tab = new DeviceWorld(store);
    store.failNth(call);
    const isStored = await tab.submit(create(2)).then(
      () => true,
      () => false,
    );
    store.failNth(undefined);
    const reopened = new DeviceWorld(createMemoryStore(memory));
    expect(await reopened.see(page)).toEqual({ data: isStored ? [1, 2] : [1] });
    expect(await reopened.replica.writes()).toHaveLength(isStored ? 1 : 0);
    if (isStored) break;
    failures += 1;
  }
  expect(failures).toBeGreaterThan(3);
});

test('submit() refuses a query with a password and stores nothing of it', async () => {
  const { device } = await worlds();
  const login = {
    create: notes,
    params: { object: { credentials: { object: { password: 'canary-123' } } } },
  };
  await expect(device.submit(login)).rejects.toThrow('needs a connection');
  expect(await device.replica.writes()).toEqual([]);
});

test('Logout() needs a connection in the copy of a user, because the token is at the hub', async () => {
  const { hub, device, fence } = await worlds();
  for (const logout of [false, true])
    expect(await device.submit({ logout })).toEqual(expect.any(String));
  const actor = { ...ADMIN, identity: [1024, '1'] as const };
  await device.replica.apply(fence, await everything(hub.store, { actor }));
  for (const logout of [false, true]) {
    await expect(device.submit({ do: [create(2), { logout }] })).rejects.toThrow('connection');
    const request = {
      query: JSON.stringify({ logout }),
      apiVersion: '4',
      allows: 'write',
    } as const;
    const answer = await device.replica.query({ ...request, secret: undefined });
    expect(answer.status).toBe(503);
  }
  expect(await device.replica.writes()).toHaveLength(2);
});

test('the root client reads the data of the copy, but may not write', async () => {
  const { device } = await worlds();
  await device.submit(create(2));
  expect(await device.asRoot(page)).toEqual({ data: [1, 2] });
  const answer = await device.answer(create(3));
  expect(answer.status).toBe(403);
  expect(answer.body).toContain('sync.client');
});

test('apply() replaces the effects of a pending write by the confirmed rows in one commit', async () => {
  const { hub, device, fence } = await worlds();
  await device.submit(create(2));
  const [item] = await device.replica.outgoing({ count: 9, chars: 1e9 });
  await hub.engine.transactions.write((input) =>
    hub.engine.transactions.execute(
      hub.engine.transactions.plan(
        { secret: 'root-secret', query: item!.query, apiVersion: '4', allows: 'write' },
        { ids: item!.ids.map(BigInt), now: item!.now },
      ),
      input,
    ),
  );
  const pulled = await everything(hub.store, {
    lastSeq: 1,
    verdicts: [verdictOn(item!, 'confirmed', hub.now)],
  });
  const applied = await device.replica.apply(fence, pulled);
  expect(applied.settled.map(({ state }) => state)).toEqual(['confirmed']);
  expect(await device.see(page)).toEqual({ data: [1, 2] });
  expect(await device.see(byN(2))).toBe(1);
  expect(await device.replica.outgoing({ count: 9, chars: 1e9 })).toEqual([]);
  expect((await device.replica.writes()).map(({ state }) => state)).toEqual(['confirmed']);
});

test('apply() reruns pending writes over the changes of the hub (S7)', async () => {
  const { hub, device, fence } = await worlds();
  await device.submit(addToFirst(10));
  expect(await device.see(page)).toEqual({ data: [11] });
  await hub.answer({
    update: firstNote,
    params: { object: { data: { object: { n: 5 } } } },
  });
  await device.replica.apply(fence, await everything(hub.store));
  expect(await device.see(page)).toEqual({ data: [15] });
  expect(await device.see(byN(15))).toBe(1);
  expect(await device.see(byN(11))).toBe(0);
});

test('apply() returns the files of pulled documents, changed or not, but not those in pages of a set', async () => {
  const { hub, device, fence } = await worlds();
  const files = [1, 2, 3].map((digit) => `file:${String(digit).repeat(64)}`);
  const params = { object: { data: { object: { n: 2, photo: files[0], more: files } } } };
  await hub.answer({ create: notes, params });
  const pulled = await everything(hub.store);
  expect((await device.replica.apply(fence, pulled)).files).toEqual(files);
  const seen = await device.see(page);
  const again = await device.replica.apply(fence, pulled);
  expect([again.files, await device.see(page)]).toEqual([files, seen]);
  const query = JSON.stringify({ documents: notes });
  await device.replica.setSets([{ id: query, query }]);
  const other = { object: { data: { object: { n: 3, photo: `file:${'4'.repeat(64)}` } } } };
  await hub.answer({ create: notes, params: other });
  const withPage = await everything(hub.store);
  expect((await device.replica.apply(fence, withPage)).files).toEqual(files);
  expect(await device.see(page)).toEqual({ data: [1, 2, 3] });
});

test('apply() derives the same ids each time a write is rerun over other data', async () => {
  const { hub, device, fence } = await worlds();
  const isMore = { gt: [{ count: { documents: notes } }, 1] };
  await device.submit(when(isMore, create(50), null));
  expect(await device.replica.outgoing({ count: 9, chars: 1e9 })).toMatchObject([{ ids: [] }]);
  const [item] = await device.replica.outgoing({ count: 9, chars: 1e9 });
  const fifty = { paginate: { match: { index: 'by_n' }, terms: 50 } };
  const made: unknown[] = [];
  for (const n of [2, 3]) {
    await hub.answer(create(n));
    await device.replica.apply(fence, await everything(hub.store));
    made.push(await device.see({ select: ['data', 0, 'id'], from: fifty }));
  }
  expect(made).toEqual([String(derivedIds(item!, WELCOMED.idKey, sha256)(0)), made[0]]);
});

test('apply() undoes a refused write and writes that depend on it, and keeps both in the outbox', async () => {
  const { hub, device, fence } = await worlds();
  const id = await device.submit(create(7));
  const [item] = await device.replica.outgoing({ count: 9, chars: 1e9 });
  await device.submit({
    update: { ref: notes, id: item!.ids[0] },
    params: { object: { data: { object: { n: 8 } } } },
  });
  expect(await device.see(page)).toEqual({ data: [1, 8] });
  await device.replica.apply(
    fence,
    await everything(hub.store, { lastSeq: 1, verdicts: [verdictOn(item!, 'refused', hub.now)] }),
  );
  expect(await device.see(page)).toEqual({ data: [1] });
  const [refused, pending] = await device.replica.writes();
  expect(refused).toMatchObject({ id, state: 'refused' });
  expect(pending).toMatchObject({ state: 'local', predicted: 'refused' });
  await device.replica.discard(id);
  expect((await device.replica.writes()).map(({ state }) => state)).toEqual(['local']);
});

test('apply() ignores an answer to an earlier state or to a request of another copy', async () => {
  const { hub, device, fence } = await worlds();
  await device.replica.apply(fence, await everything(hub.store, { token: 't1' }));
  await hub.answer(create(2));
  for (const after of [undefined, 't0']) {
    const late = await everything(hub.store, { after, token: 't2' });
    const { state } = await device.replica.apply(fence, late);
    expect(state.token).toBe('t1');
    expect(await device.see(page)).toEqual({ data: [1] });
  }
  await device.replica.apply(fence, await everything(hub.store, { after: 't1', token: 't2' }));
  expect(await device.see(page)).toEqual({ data: [1, 2] });
});

test('apply() stores that a comparison is due until the latest requested one is finished', async () => {
  const { hub, device, fence, memory } = await worlds();
  const apply = async (more: Parameters<typeof everything>[1]) =>
    device.replica.apply(fence, await everything(hub.store, { ...more, schema: undefined }));
  await apply({ token: 't1', check: true, more: true });
  await apply({ token: 't2', after: 't1' });
  const reopened = new DeviceWorld(createMemoryStore(memory));
  expect((await reopened.replica.state())?.suspectSince).toBe(1);
  await apply({ token: 't3', after: 't2', check: true });
  expect((await device.replica.finishComparison(fence, 1)).suspectSince).toBe(2);
  await device.replica.moveToNewDevice(fence);
  expect((await device.replica.state())?.suspectSince).toBe(2);
  expect((await device.replica.finishComparison(fence, 2)).suspectSince).toBe(undefined);
});

test('apply() replaces a document although the copy is assumed not to have it', async () => {
  const { hub, device, fence, memory } = await worlds();
  const cursor = (await device.replica.state())?.cursor ?? 0;
  await hub.answer(create(2));
  const pulled = await everything(hub.store, { cursor });
  await device.replica.apply(fence, pulled);
  const other = pulled.puts.map(
    ([collection, id, stored]) => [collection, id, stored.replace('"n":2', '"n":3')] as const,
  );
  const reopened = new DeviceWorld(createMemoryStore(memory));
  await reopened.replica.apply(fence, { ...pulled, puts: other });
  expect(await reopened.see(page)).toEqual({ data: [1, 3] });
  expect([await reopened.see(byN(2)), await reopened.see(byN(3))]).toEqual([0, 1]);
});

test('apply() with an old fencing token changes nothing', async () => {
  const { hub, device, fence } = await worlds();
  await device.replica.takeFence();
  await hub.answer(create(2));
  await expect(device.replica.apply(fence, await everything(hub.store))).rejects.toThrow(Fenced);
  expect(await device.see(page)).toEqual({ data: [1] });
});

test('apply() shows nothing of a staged pull before its last part', async () => {
  const { hub, device, fence } = await worlds();
  await hub.answer(create(2));
  await device.replica.apply(fence, await everything(hub.store, { more: true, schema: undefined }));
  expect(await device.see(page)).toEqual({ data: [1] });
  await device.replica.apply(fence, await everything(hub.store, { puts: [], schema: undefined }));
  expect(await device.see(page)).toEqual({ data: [1, 2] });
});

test('apply() of a staged pull takes what the latest part says of a document', async () => {
  const { hub, device, fence } = await worlds();
  const { puts } = await everything(hub.store);
  const leaves = puts.map(([collection, id]) => [collection, id] as const);
  const present = { puts, leaves: [], schema: undefined };
  const absent = { puts: [], leaves, schema: undefined };
  for (const [first, last, data] of [
    [present, absent, []],
    [absent, present, [1]],
  ] as const) {
    await device.replica.apply(fence, await everything(hub.store, { ...first, more: true }));
    await device.replica.apply(fence, await everything(hub.store, last));
    expect(await device.see(page)).toEqual({ data });
  }
});

test('apply() does not hide later writes if the hub knows more writes than the copy', async () => {
  const { hub, device, fence } = await worlds();
  await device.replica.apply(fence, await everything(hub.store, { lastSeq: 5 }));
  await device.submit(create(2));
  expect(await device.see(page)).toEqual({ data: [1, 2] });
});

test('apply() takes the schema from the last part of a staged pull, even if it is the stored one', async () => {
  const { hub, device, fence } = await worlds();
  const { schema } = (await device.replica.state())!;
  const other = { version: 'other', documents: [] };
  await device.replica.apply(fence, await everything(hub.store, { more: true, schema: other }));
  const { state } = await device.replica.apply(
    fence,
    await everything(hub.store, { schema: undefined }),
  );
  expect(state.schema).toBe(schema);
  expect(await device.see(page)).toEqual({ data: [1] });
});

test('apply() ignores the next part of a pull if setSets() has dropped the earlier parts', async () => {
  const { hub, device, fence } = await worlds();
  const { cursor: since, sets = [] } = (await device.replica.state()) ?? {};
  await hub.answer(create(2));
  const whole = await everything(hub.store, { schema: undefined });
  const part = { ...whole, more: true, token: 't1' };
  const { state: staged } = await device.replica.apply(fence, part, { since, sets });
  await device.replica.setSets([{ id: 'notes', query: '{"documents":{"collection":"notes"}}' }]);
  await device.replica.setSets(sets);
  for (const more of [true, false]) {
    const next = { ...whole, puts: [], after: 't1', token: 't2', cursor: whole.cursor + 1, more };
    const asked = { since: staged.staged?.cursor, sets };
    const { isIgnored, state } = await device.replica.apply(fence, next, asked);
    expect([isIgnored, state.cursor, state.staged, state.token]).toEqual([
      true,
      since,
      undefined,
      't1',
    ]);
  }
  const again = { ...whole, after: 't1', token: 't3' };
  expect(await device.replica.apply(fence, again, { since, sets })).toMatchObject({
    isIgnored: false,
  });
  expect(await device.see(page)).toEqual({ data: [1, 2] });
});

test('setSets() with the same sets keeps the staged parts of a pull', async () => {
  const { hub, device, fence } = await worlds();
  const { cursor: since, sets = [] } = (await device.replica.state()) ?? {};
  await hub.answer(create(2));
  const whole = await everything(hub.store, { schema: undefined });
  const part = { ...whole, more: true, token: 't1' };
  const { state } = await device.replica.apply(fence, part, { since, sets });
  // Each tab calls this when it opens.
  expect(await device.replica.setSets(sets)).toEqual(state);
  const last = { ...whole, puts: [], after: 't1', token: 't2' };
  const asked = { since: state.staged?.cursor, sets };
  expect(await device.replica.apply(fence, last, asked)).toMatchObject({ isIgnored: false });
  expect(await device.see(page)).toEqual({ data: [1, 2] });
});

test('setSets() with another query for a set loads it again', async () => {
  const { hub, device, fence } = await worlds();
  const whole = await everything(hub.store, { token: 't1' });
  const answer = answerFor('notes', [NOTES_PART], { of: 1 });
  await device.replica.setSets([{ id: 'notes', query: 'one' }]);
  await device.replica.apply(fence, { ...whole, sets: [answer] });
  const { sets } = await device.replica.setSets([{ id: 'notes', query: 'other' }]);
  expect(sets).toMatchObject([{ query: 'other', loaded: 'nothing', rows: 0 }]);
});

test('setSets() with the same sets in another order stores the new order', async () => {
  const { device } = await worlds();
  const [notes, tasks] = ['notes', 'tasks'].map((id) => ({ id, query: `{"documents":"${id}"}` }));
  if (!notes || !tasks) throw new Error('two sets');
  await device.replica.setSets([notes, tasks]);
  const { sets } = await device.replica.setSets([tasks, notes]);
  expect(sets.map(({ id }) => id)).toEqual(['tasks', 'notes']);
});

test('apply() ignores the answer for a set that was removed and added again since the request', async () => {
  const { hub, device, fence } = await worlds();
  const wanted = [{ id: 'notes', query: '{"documents":{"collection":"notes"}}' }];
  const whole = await everything(hub.store, { token: 't1' });
  const answer = answerFor('notes', [NOTES_PART]);
  await device.replica.setSets(wanted);
  const { state } = await device.replica.apply(fence, { ...whole, sets: [answer] });
  const asked = { since: state.cursor, sets: state.sets };
  await device.replica.setSets([]);
  await device.replica.setSets(wanted);
  expect(await device.see(page)).toEqual({ data: [] });
  const nothingNew = { ...whole, puts: [], after: 't1', token: 't2', sets: [answer] };
  const applied = await device.replica.apply(fence, nothingNew, asked);
  expect(applied).toMatchObject({ isIgnored: true, state: { sets: [{ loaded: 'nothing' }] } });
});

test('apply() removes documents that left the sets', async () => {
  const { hub, device, fence } = await worlds();
  const { puts } = await everything(hub.store);
  const [[collection, id]] = puts as [[number, string, string]];
  await device.replica.apply(
    fence,
    await everything(hub.store, { puts: [], leaves: [[collection, id]] }),
  );
  expect(await device.see(page)).toEqual({ data: [] });
  expect(await device.see(byN(1))).toBe(0);
});

test('apply() adds entries of a new index to documents already stored', async () => {
  const { hub, device, fence } = await worlds();
  await hub.answer({
    create_index: {
      object: { name: 'late', source: notes, values: [{ object: { field: ['data', 'n'] } }] },
    },
  });
  await device.replica.apply(fence, await everything(hub.store));
  expect(await device.see({ paginate: { match: { index: 'late' } } })).toEqual({ data: [1] });
});

test('apply() removes the entries of an index that was deleted', async () => {
  const { hub, device, fence } = await worlds();
  await hub.answer({ delete: { index: 'by_n' } });
  const { puts, ...rest } = await everything(hub.store);
  const entriesAt = async ({ store }: Pick<DeviceWorld, 'store'>) => {
    const [[collection, id]] = puts as [[number, string, string]];
    const key = documentKey(0, collection, BigInt(id));
    const { rows } = await store.read((tx) => tx.fetch([{ space: 'documents', key }], []));
    return rows[0]?.entries;
  };
  const before = await entriesAt(device);
  await device.replica.apply(fence, { ...rest, puts });
  expect(await entriesAt(device)).toEqual(before?.slice(0, -1));
});

test('setSets() and apply() request a comparison if a set ends while another one is loading, because documents of both may have been deleted', async () => {
  const { hub, device, fence } = await worlds();
  const [one, all] = ['one', 'all'].map((id) => ({ id, query: id }));
  if (!one || !all) throw new Error('two sets');
  await device.replica.setSets([one, all]);
  const whole = await everything(hub.store, { token: 't1' });
  const [[collection, id]] = whole.puts as [[number, string, string]];
  const document = { kind: 'document', collection, id } as const;
  const loading = answerFor('all', [NOTES_PART], { loaded: [''] });
  const sets = [answerFor('one', [document]), loading];
  await device.replica.apply(fence, { ...whole, sets });
  expect((await device.replica.state())?.suspectSince).toBe(undefined);
  // No set contains the document until the page with it comes, and a page does not say which documents are gone.
  const error = { code: 'permission denied', description: 'Not any more.' };
  const denied = [answerFor('one', [], { error }), loading];
  // The same if the hub refuses a set, or it loses a part.
  for (const given of [denied, [answerFor('one'), loading]]) {
    const { device: other, fence: own } = await worlds();
    await other.replica.setSets([one, all]);
    await other.replica.apply(own, { ...whole, sets });
    const next = { ...whole, puts: [], after: 't1', token: 't2', sets: given };
    expect((await other.replica.apply(own, next)).state.suspectSince).toBe(1);
    expect(await other.see(page)).toEqual({ data: [1] });
  }
  expect((await device.replica.setSets([all])).suspectSince).toBe(1);
  expect(await device.see(page)).toEqual({ data: [1] });
  // A comparison that began before does not cover the later reasons.
  const due = { ...whole, puts: [], after: 't1', token: 't2', check: true };
  await device.replica.apply(fence, { ...due, sets: [answerFor('all', [NOTES_PART])] });
  await device.replica.setSets([one]);
  expect((await device.replica.finishComparison(fence, 2)).suspectSince).toBe(3);
});

test('setSets() keeps the documents until the hub has resolved the new sets', async () => {
  const { hub, device, fence } = await worlds();
  const whole = await everything(hub.store, { token: 't1' });
  await device.replica.setSets([{ id: 'notes', query: 'notes' }]);
  await device.replica.apply(fence, { ...whole, sets: [answerFor('notes', [NOTES_PART])] });
  await device.submit(create(2));
  // A newer build of the app words its set differently, or asks for another set, without a connection.
  for (const id of ['the same', 'other']) {
    await device.replica.setSets([{ id, query: id }]);
    expect(await device.see(page)).toEqual({ data: [1, 2] });
  }
  const { state } = await device.replica.apply(fence, {
    ...whole,
    puts: [],
    after: 't1',
    token: 't2',
    sets: [answerFor('other')],
  });
  expect(await device.see(page)).toEqual({ data: [2] });
  // The doubt has an end: a comparison is due for what both sets contain.
  expect([state.givenUp, state.suspectSince]).toEqual([undefined, 2]);
});

test('lock() hides all data until it is unlocked', async () => {
  const { device, fence } = await worlds();
  await device.replica.lock(fence, true);
  expect(JSON.stringify(await device.see(page))).toContain('locked');
  expect((await device.answer(page)).status).toBe(423);
  await expect(device.submit(create(2))).rejects.toThrow('locked');
  await device.replica.lock(fence, false);
  expect(await device.see(page)).toEqual({ data: [1] });
});

test('adopt() refuses a database with a schema of its own, and the copy of another hub', async () => {
  const own = new DeviceWorld();
  await own.answer({ create_collection: { object: { name: 'mine' } } });
  await expect(own.replica.adopt('https://hub', WELCOMED, 'd2')).rejects.toThrow(
    'did not come from a hub',
  );
  const { device } = await worlds();
  await expect(device.replica.adopt('https://other', WELCOMED, 'd2')).rejects.toThrow('another');
});
