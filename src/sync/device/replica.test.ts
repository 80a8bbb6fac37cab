import { expect, test } from 'vitest';
import { EngineWorld } from '../../engine/testing/engine-world.ts';
import { createMemoryStore, SharedMemory } from '../../store/memory.ts';
import { DeviceWorld, everything, verdictOn, ADMIN } from '../testing/device-world.ts';
import { Fenced } from './api.ts';

const notes = { collection: 'notes' };
const page = {
  map: { lambda: 'x', expr: { select: ['data', 'n'], from: { get: { var: 'x' } } } },
  collection: { paginate: { documents: notes } },
};
const create = (n: number) => ({ create: notes, params: { object: { data: { object: { n } } } } });

async function worlds() {
  const hub = new EngineWorld();
  await hub.answer({ create_collection: { object: { name: 'notes' } } });
  await hub.answer({
    create_index: {
      object: {
        name: 'by_n',
        source: notes,
        terms: [{ object: { field: ['data', 'n'] } }],
      },
    },
  });
  await hub.answer(create(1));
  const memory = new SharedMemory();
  const device = new DeviceWorld(createMemoryStore(memory));
  await device.replica.adopt('https://hub', ADMIN, 'e', 'd1');
  const fence = await device.replica.takeFence();
  await device.replica.apply(fence, await everything(hub.store));
  return { hub, device, fence, memory };
}

const byN = (n: number) => ({ count: { match: { index: 'by_n' }, terms: n } });

test('apply() shows what the hub has, by collection and by index', async () => {
  const { device } = await worlds();
  expect(await device.see(page)).toEqual({ data: [1] });
  expect(await device.see(byN(1))).toBe(1);
});

test('submit() shows a write at once, in every tab, and after a reopening', async () => {
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

test('submit() numbers writes of two tabs without a gap', async () => {
  const { device, memory } = await worlds();
  const other = new DeviceWorld(createMemoryStore(memory));
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => (i % 2 ? device : other).submit(create(i))),
  );
  const items = await device.replica.outgoing({ count: 100, bytes: 1e9 });
  expect(items.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  expect(new Set(items.map(({ now }) => now)).size).toBe(20);
});

test('submit() of a query that fails keeps nothing', async () => {
  const { device } = await worlds();
  await expect(device.submit({ abort: 'no' })).rejects.toThrow('no');
  expect(await device.replica.writes()).toEqual([]);
});

test('submit() refuses what makes a secret, and keeps nothing of it', async () => {
  const { device } = await worlds();
  const login = {
    create: notes,
    params: { object: { credentials: { object: { password: 'canary-123' } } } },
  };
  await expect(device.submit(login)).rejects.toThrow('needs a connection');
  expect(await device.replica.writes()).toEqual([]);
});

test('the root client reads what is shown and writes nothing', async () => {
  const { device } = await worlds();
  await device.submit(create(2));
  expect(await device.asRoot(page)).toEqual({ data: [1, 2] });
  const answer = await device.answer(create(3));
  expect(answer.status).toBe(403);
  expect(answer.body).toContain('sync.client');
});

test('apply() puts a confirmed write where its preview was, without a moment in between', async () => {
  const { hub, device, fence } = await worlds();
  await device.submit(create(2));
  const [item] = await device.replica.outgoing({ count: 9, bytes: 1e9 });
  await hub.engine.transactions.write((input) =>
    hub.engine.transactions.run(
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
  expect(await device.replica.outgoing({ count: 9, bytes: 1e9 })).toEqual([]);
  expect((await device.replica.writes()).map(({ state }) => state)).toEqual(['confirmed']);
});

test('apply() runs pending writes again over what the hub changed', async () => {
  const { hub, device, fence } = await worlds();
  const first = { select: ['data', 0], from: { paginate: { documents: notes } } };
  const increment = {
    let: [{ r: first }],
    in: {
      update: { var: 'r' },
      params: {
        object: {
          data: {
            object: { n: { add: [{ select: ['data', 'n'], from: { get: { var: 'r' } } }, 10] } },
          },
        },
      },
    },
  };
  await device.submit(increment);
  expect(await device.see(page)).toEqual({ data: [11] });
  await hub.answer({
    update: first,
    params: { object: { data: { object: { n: 5 } } } },
  });
  await device.replica.apply(fence, await everything(hub.store));
  expect(await device.see(page)).toEqual({ data: [15] });
  expect(await device.see(byN(15))).toBe(1);
  expect(await device.see(byN(11))).toBe(0);
});

test('apply() takes back a refused write and what stood on it, and keeps both to be looked at', async () => {
  const { hub, device, fence } = await worlds();
  const id = await device.submit(create(7));
  const [item] = await device.replica.outgoing({ count: 9, bytes: 1e9 });
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

test('apply() of a syncer that another has replaced changes nothing', async () => {
  const { hub, device, fence } = await worlds();
  await device.replica.takeFence();
  await hub.answer(create(2));
  await expect(device.replica.apply(fence, await everything(hub.store))).rejects.toThrow(Fenced);
  expect(await device.see(page)).toEqual({ data: [1] });
});

test('apply() shows nothing of a pull in parts before the last', async () => {
  const { hub, device, fence } = await worlds();
  await hub.answer(create(2));
  await device.replica.apply(fence, await everything(hub.store, { more: true, schema: undefined }));
  expect(await device.see(page)).toEqual({ data: [1] });
  await device.replica.apply(fence, await everything(hub.store, { puts: [], schema: undefined }));
  expect(await device.see(page)).toEqual({ data: [1, 2] });
});

test('apply() removes what left', async () => {
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

test('apply() gives documents that are here the entries of an index that comes later', async () => {
  const { hub, device, fence } = await worlds();
  await hub.answer({
    create_index: {
      object: { name: 'late', source: notes, values: [{ object: { field: ['data', 'n'] } }] },
    },
  });
  await device.replica.apply(fence, await everything(hub.store));
  expect(await device.see({ paginate: { match: { index: 'late' } } })).toEqual({ data: [1] });
});

test('rename() numbers what has no verdict anew', async () => {
  const { device, fence } = await worlds();
  await device.submit(create(2));
  await device.submit(create(3));
  const before = await device.replica.outgoing({ count: 9, bytes: 1e9 });
  const [first] = before;
  await device.replica.settle(fence, [verdictOn(first!, 'confirmed', 1)]);
  const [, pending] = await device.replica.writes();
  const state = await device.replica.rename(fence);
  expect(state.lastSeq).toBe(1);
  expect((await device.replica.find([pending!.id])).map(({ item }) => item.seq)).toEqual([1]);
  const items = await device.replica.outgoing({ count: 9, bytes: 1e9 });
  expect(items.map(({ seq, query }) => [seq, query])).toEqual([[1, before[1]!.query]]);
  expect(items[0]!.hash).not.toBe(before[1]!.hash);
});

test('reenter() offers confirmed writes again that the restored hub lacks', async () => {
  const { device, fence } = await worlds();
  await device.submit(create(2));
  const [item] = await device.replica.outgoing({ count: 9, bytes: 1e9 });
  await device.replica.settle(fence, [verdictOn(item!, 'confirmed', 1)]);
  expect(await device.replica.outgoing({ count: 9, bytes: 1e9 })).toEqual([]);
  await device.replica.reenter(fence, 'f');
  const again = await device.replica.outgoing({ count: 9, bytes: 1e9 });
  expect(again.map(({ hash }) => hash)).toEqual([item!.hash]);
});

test('lock() hides everything until it is opened again', async () => {
  const { device } = await worlds();
  await device.replica.lock(true);
  expect(JSON.stringify(await device.see(page))).toContain('locked');
  expect((await device.answer(page)).status).toBe(423);
  await expect(device.submit(create(2))).rejects.toThrow('locked');
  await device.replica.lock(false);
  expect(await device.see(page)).toEqual({ data: [1] });
});

test('adopt() refuses a database with a schema of its own, and one of another hub', async () => {
  const own = new DeviceWorld();
  await own.answer({ create_collection: { object: { name: 'mine' } } });
  await expect(own.replica.adopt('https://hub', ADMIN, 'e', 'd2')).rejects.toThrow(
    'came from no hub',
  );
  const { device } = await worlds();
  await expect(device.replica.adopt('https://other', ADMIN, 'e', 'd2')).rejects.toThrow('another');
});
