import { afterEach, expect, test, vi } from 'vitest';
import type { JudgedData } from '../../src/host/sync.ts';
import { WELCOMED, DeviceWorld, verdictOn } from '../../src/sync/testing/device-world.ts';
import { SyncWaiters } from './sync-waiters.ts';

afterEach(() => vi.useRealTimers());

const CREATE = { create_collection: { object: { name: 'notes' } } };

async function open() {
  const world = new DeviceWorld();
  const { replica } = world;
  await replica.adopt('hub', WELCOMED, 'd'.repeat(32));
  const fence = await replica.takeFence();
  const received: JudgedData[] = [];
  const reported: unknown[] = [];
  let kicks = 0;
  const waits = new SyncWaiters({
    replica,
    emit: (write) => received.push(write),
    kick: () => {
      kicks += 1;
    },
    report: (reason) => reported.push(reason),
  });
  /** The hub gives verdicts on all waiting writes. */
  const judge = async (): Promise<void> => {
    const items = await replica.outgoing({ count: 100, chars: 1e6 });
    await replica.settle(
      fence,
      items.map((item) => verdictOn(item, 'confirmed', 1)),
    );
  };
  return { world, waits, received, reported, judge, kicks: () => kicks };
}

/** The state of a promise after everything that can happen now has happened. */
async function stateOf(promise: Promise<unknown>): Promise<'done' | 'failed' | 'waiting'> {
  const late = new Promise<'waiting'>((resolve) => setImmediate(() => resolve('waiting')));
  return Promise.race([
    promise.then(
      () => 'done' as const,
      () => 'failed' as const,
    ),
    late,
  ]);
}

test('forSettled() waits for every verdict, and resolves at once when no write is pending', async () => {
  const { world, waits, judge } = await open();
  await waits.forSettled();
  await world.submit(CREATE);
  const settled = waits.forSettled();
  await waits.check();
  expect(await stateOf(settled)).toBe('waiting');
  await judge();
  await waits.check();
  expect(await stateOf(settled)).toBe('done');
});

test('a verdict found in the store without a hint is emitted once', async () => {
  const { world, waits, received, judge } = await open();
  const id = await world.submit(CREATE);
  waits.expect(id);
  await waits.check();
  expect(received).toEqual([]);
  await judge();
  await Promise.all([waits.check(), waits.check()]);
  await waits.check();
  expect(received.map((write) => write.id)).toEqual([id]);
  const [again] = received;
  if (again) waits.onVerdict(again);
  expect(received).toHaveLength(1);
});

test('a write that was discarded before its verdict was seen is looked up once', async () => {
  const { world, waits, received, judge } = await open();
  const { replica } = world;
  const id = await world.submit(CREATE);
  await judge();
  await replica.discard(id);
  const looked = vi.spyOn(replica, 'writesById');
  waits.expect(id);
  await waits.check();
  await waits.check();
  expect(looked.mock.calls).toEqual([[[id]]]);
  expect(received).toEqual([]);
});

test('a repeated verdict is emitted once, but only the latest verdicts are remembered', async () => {
  const { waits, received } = await open();
  const verdict = (n: number): JudgedData => ({
    id: `1.${n}`,
    state: 'confirmed',
    madeMicros: 0,
    query: '1',
    ts: n,
    body: undefined,
    replaces: undefined,
  });
  for (let n = 0; n < 3000; n++) for (const each of [n, n]) waits.onVerdict(verdict(each));
  expect(received).toHaveLength(3000);
  waits.onVerdict(verdict(0));
  expect(received).toHaveLength(3001);
});

test('forSynced() asks the hub, and waits for a later round that includes its set', async () => {
  const { world, waits, kicks } = await open();
  await world.replica.setSets([{ id: 'notes', query: 'notes' }]);
  const before = Date.now() - 1;
  const all = waits.forSynced(undefined);
  const one = waits.forSynced('notes');
  await vi.waitFor(() => expect(kicks()).toBe(2));
  waits.onRound(before, ['notes'], true);
  expect(await stateOf(one)).toBe('waiting');
  const since = Date.now() + 1;
  waits.onRound(since, ['others'], false);
  expect(await stateOf(one)).toBe('waiting');
  waits.onRound(since, ['notes'], false);
  expect(await stateOf(one)).toBe('done');
  expect(await stateOf(all)).toBe('waiting');
  waits.onRound(since, ['notes'], true);
  expect(await stateOf(all)).toBe('done');
});

test('forSynced() waits for a later round even if the clock is set back', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { waits } = await open();
  const begun = Date.now();
  const synced = waits.forSynced(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  vi.setSystemTime(begun - 3_600_000);
  // The round began earlier, according to the clock before it was set back.
  waits.onRound(begun - 1, [], true);
  expect(await stateOf(synced)).toBe('waiting');
  vi.setSystemTime(begun - 3_599_000);
  waits.onRound(Date.now(), [], true);
  expect(await stateOf(synced)).toBe('done');
});

test('forSynced() rejects for an unknown set and for one that the hub refuses', async () => {
  const { world, waits, kicks } = await open();
  await world.replica.setSets([{ id: 'mine', query: 'mine' }]);
  await expect(waits.forSynced('other')).rejects.toThrow('This set is not synced');
  const state = await world.replica.state();
  const error = { code: 'permission denied', description: 'Not yours.' };
  vi.spyOn(world.replica, 'state').mockResolvedValue(
    state && { ...state, sets: state.sets.map((set) => ({ ...set, error })) },
  );
  const refused = waits.forSynced('mine');
  await vi.waitFor(() => expect(kicks()).toBe(1));
  waits.onRound(Date.now() + 1, ['mine'], true);
  await expect(refused).rejects.toMatchObject({
    code: 'forbidden',
    message: 'The hub refuses this set: Not yours.',
  });
  const all = waits.forSynced(undefined);
  await vi.waitFor(() => expect(kicks()).toBe(2));
  waits.onRound(Date.now() + 1, [], true);
  // A computed set may have an error until its user has data.
  expect(await stateOf(all)).toBe('done');
});

test('fail() rejects all waiters, failSchema() only those that wait for the schema', async () => {
  const { world, waits } = await open();
  await world.submit(CREATE);
  const schema = waits.forSchema();
  const others = [waits.forSettled(), waits.forSynced(undefined)];
  waits.failSchema(new Error('no contact'));
  await expect(schema).rejects.toThrow('no contact');
  expect(await Promise.all(others.map(stateOf))).toEqual(['waiting', 'waiting']);
  waits.fail(new Error('stopped'));
  for (const other of others) await expect(other).rejects.toThrow('stopped');
});

test('a store that cannot be read is reported, and read again later', async () => {
  const { world, waits, reported, judge } = await open();
  await world.submit(CREATE);
  const read = vi.spyOn(world.replica, 'state').mockRejectedValue(new Error('gone'));
  const settled = waits.forSettled();
  await expect.poll(() => reported).not.toEqual([]);
  read.mockRestore();
  await judge();
  await waits.check();
  expect(await stateOf(settled)).toBe('done');
});

test('check() looks up only new writes as long as there are no verdicts', async () => {
  const { world, waits, received, judge } = await open();
  const looked = vi.spyOn(world.replica, 'writesById');
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    const id = await world.submit({ create_collection: { object: { name: `c${n}` } } });
    ids.push(id);
    waits.expect(id);
    await waits.check();
  }
  expect(looked.mock.calls).toEqual(ids.map((id) => [[id]]));
  await judge();
  await waits.check();
  expect(received.map(({ id }) => id)).toEqual(ids);
});

test('renumbered writes are looked up again', async () => {
  const { world, waits, received } = await open();
  const id = await world.submit(CREATE);
  waits.expect(id);
  await waits.check();
  const fence = await world.replica.takeFence();
  await world.replica.moveToNewDevice(fence);
  const items = await world.replica.outgoing({ count: 100, chars: 1e6 });
  await world.replica.settle(
    fence,
    items.map((item) => verdictOn(item, 'refused', 1)),
  );
  await waits.check();
  expect(received).toMatchObject([{ id, state: 'refused' }]);
});

test('a different verdict on a write, from a restored hub, is emitted too', async () => {
  const { waits, received } = await open();
  const verdict: JudgedData = {
    id: '1.1',
    state: 'confirmed',
    madeMicros: 0,
    query: '1',
    ts: 1,
    body: undefined,
    replaces: undefined,
  };
  for (const each of [verdict, { ...verdict, state: 'refused', ts: 2 } as const])
    for (const again of [each, each]) waits.onVerdict(again);
  expect(received.map(({ state }) => state)).toEqual(['confirmed', 'refused']);
});

test('forSynced() rejects if its set is removed while it waits', async () => {
  const { world, waits, kicks } = await open();
  await world.replica.setSets([{ id: 'mine', query: 'mine' }]);
  const synced = waits.forSynced('mine');
  await vi.waitFor(() => expect(kicks()).toBe(1));
  await world.replica.setSets([{ id: 'other', query: 'other' }]);
  waits.onRound(Date.now() + 1, [], false);
  expect(await stateOf(synced)).toBe('waiting');
  waits.onRound(Date.now() + 1, ['other'], true);
  await expect(synced).rejects.toMatchObject({ code: 'not found' });
});
