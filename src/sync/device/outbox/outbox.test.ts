import { expect, test, vi } from 'vitest';
import { syncKey } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import type { QueryAnswer } from '../../../engine/host.ts';
import { repeated } from '../../../engine/testing/large-values.ts';
import { LIMITS, SYNC_LIMITS } from '../../../limits.ts';
import { createMemoryStore } from '../../../store/memory.ts';
import { scan } from '../../../store/scan.ts';
import { SYNC_PROTOCOL } from '../../protocol/messages.ts';
import type { PushItem } from '../../protocol/writes.ts';
import { DeviceWorld, everything, verdictOn, WELCOMED } from '../../testing/device-world.ts';
import { addToFirst, createNote, notes, notesPage, noteWorlds } from '../../testing/note-worlds.ts';
import { outboxParsesIn } from '../../testing/outbox-parses.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { stateRow } from '../state/state-row.ts';
import { ReplicaView } from '../view/replica-view.ts';
import { pushSizeOf } from './push-size.ts';

const ALL = { count: 9, chars: 1e9 };
const DAY = 86_400_000_000;

test('moveToNewDevice() numbers writes without a verdict from 1', async () => {
  const { device, fence } = await noteWorlds();
  await device.submit(createNote(2));
  await device.submit(createNote(3));
  const before = await device.replica.outgoing(ALL);
  const [first] = before;
  await device.replica.settle(fence, [verdictOn(first!, 'confirmed', 1)]);
  const [, pending] = await device.replica.writes();
  expect((await device.replica.moveToNewDevice(fence)).lastSeq).toBe(1);
  expect((await device.replica.writesById([pending!.id])).map(({ item }) => item.seq)).toEqual([1]);
  const items = await device.replica.outgoing(ALL);
  expect(items.map(({ seq, query }) => [seq, query])).toEqual([[1, before[1]!.query]]);
  expect(items[0]!.hash).not.toBe(before[1]!.hash);
});

async function keptOf(count: number) {
  const { device } = await noteWorlds();
  for (let n = 0; n < count; n++) await device.submit(createNote(n + 2));
  const { device: id } = (await device.replica.state())!;
  return { id, items: await device.replica.outgoing(ALL) };
}

const saved = (items: readonly PushItem[]) => items.map((item) => ({ item }));

test('recover() restores unsent writes with their numbers', async () => {
  const { id, items } = await keptOf(3);
  const { device } = await noteWorlds();
  expect(await device.replica.recover(id, saved(items.slice(1)))).toBe(0);
  expect(await device.replica.outgoing(ALL)).toEqual(items.slice(1));
  expect(await device.replica.state()).toMatchObject({ device: id, lastSeq: 3, settledSeq: 1 });
});

test('recover() in a reverted copy shows the restored writes at once, without the hub', async () => {
  const { id, items } = await keptOf(3);
  const { device } = await noteWorlds();
  await device.submit(createNote(2));
  expect(await device.replica.recover(id, saved(items.slice(1)))).toBe(0);
  expect(await numbersIn(device)).toEqual([1, 2, 3, 4]);
  await device.submit(addToFirst(10));
  expect(await numbersIn(device)).toHaveLength(4);
});

const numbersIn = async (device: DeviceWorld): Promise<readonly number[]> =>
  ((await device.see(notesPage)) as { data: number[] }).data.toSorted((a, b) => a - b);

test('recover() of writes with gaps moves them to a new device id and returns the number of missing ones', async () => {
  const { id, items } = await keptOf(5);
  const { device } = await noteWorlds();
  const [first, , third, , fifth] = items;
  expect(await device.replica.recover(id, saved([first!, third!, fifth!]))).toBe(2);
  const again = await device.replica.outgoing(ALL);
  expect(again.map(({ seq, query, now }) => [seq, query, now])).toEqual(
    [first!, third!, fifth!].map(({ query, now }, i) => [i + 1, query, now]),
  );
  const state = await device.replica.state();
  expect(state).toMatchObject({ lastSeq: 3, settledSeq: 0 });
  expect(state?.device).not.toBe(id);
  expect(await numbersIn(device)).toEqual([1, 2, 4, 6]);
});

test('recover() in a reverted copy, with a gap after its own writes, moves all writes to a new device id', async () => {
  const { device } = await noteWorlds();
  await device.submit(createNote(2));
  const { device: id } = (await device.replica.state())!;
  const [own] = await device.replica.outgoing(ALL);
  const later = [3, 5].map((seq) => ({ ...own!, seq, now: own!.now + seq, ids: [`${seq}77`] }));
  expect(await device.replica.recover(id, saved(later))).toBe(2);
  const again = await device.replica.outgoing(ALL);
  expect(again.map(({ seq, ids }) => [seq, ids])).toEqual([
    [1, own!.ids],
    [2, ['377']],
    [3, ['577']],
  ]);
  expect((await device.replica.state())?.device).not.toBe(id);
  await device.submit(createNote(9));
  expect(await device.replica.outgoing(ALL)).toHaveLength(4);
});

test('recover() changes nothing if the copy has writes under another device id', async () => {
  const { items } = await keptOf(3);
  const { device } = await noteWorlds();
  await device.submit(createNote(9));
  const before = await device.replica.state();
  expect(await device.replica.recover('0f'.repeat(16), saved(items))).toBe(0);
  expect(await device.replica.state()).toEqual(before);
  expect(await device.replica.outgoing(ALL)).toHaveLength(1);
});

test('recover() of old writes does not move Now() of the next write back', async () => {
  const { id, items } = await keptOf(1);
  const { device, fence } = await noteWorlds();
  const welcome = { ...WELCOMED, protocol: SYNC_PROTOCOL, device: id, lastSeq: 0 };
  const times = { hubTime: device.now + DAY, expiresAt: undefined, passwordSetAt: undefined };
  const { lastNow } = await device.replica.applyWelcome(
    fence,
    { ...welcome, ...times },
    device.now,
  );
  expect(items[0]!.now).toBeLessThan(lastNow);
  await device.replica.recover(id, saved(items));
  expect(await device.replica.state()).toMatchObject({ lastSeq: 1, lastNow });
});

test('recover() of writes of other device ids gives new numbers to those that the copy lacks', async () => {
  const { id, items } = await keptOf(3);
  const { device, fence } = await noteWorlds();
  await device.replica.recover(id, saved(items.slice(0, 1)));
  await device.submit(createNote(9));
  expect(await device.replica.recover(undefined, saved(items))).toBe(0);
  const all = await device.replica.outgoing(ALL);
  expect(all.map(({ seq, query }) => [seq, query])).toEqual([
    [1, items[0]!.query],
    [2, JSON.stringify(createNote(9))],
    [3, items[1]!.query],
    [4, items[2]!.query],
  ]);
  expect(await numbersIn(device)).toEqual([1, 2, 3, 4, 9]);
  // Writes that have their verdict are here already, too.
  await device.replica.settle(
    fence,
    all.map((item) => verdictOn(item, 'confirmed', 1)),
  );
  await device.replica.recover(undefined, saved(items));
  expect(await device.replica.outgoing(ALL)).toEqual([]);
  await device.submit(createNote(10));
  const [last] = await device.replica.outgoing(ALL);
  expect(last!.now).toBeGreaterThan(Math.max(...all.map(({ now }) => now)));
});

test('resubmitAll() sends confirmed writes again that the restored hub lacks', async () => {
  const { device, fence } = await noteWorlds();
  await device.submit(createNote(2));
  const [item] = await device.replica.outgoing(ALL);
  await device.replica.settle(fence, [verdictOn(item!, 'confirmed', 1)]);
  expect(await device.replica.outgoing(ALL)).toEqual([]);
  await device.replica.resubmitAll(fence, 'f');
  const again = await device.replica.outgoing(ALL);
  expect(again.map(({ hash }) => hash)).toEqual([item!.hash]);
});

/** Two writes that add to the same number, one after the other. The first is refused, but no pull has contained that yet. */
async function refusedBelow() {
  const world = await noteWorlds();
  const { device, fence } = world;
  const refused = await device.submit(addToFirst(1));
  await device.submit(addToFirst(10));
  const [item] = await device.replica.outgoing(ALL);
  await device.replica.settle(fence, [verdictOn(item!, 'refused', 1)]);
  expect(await device.see(notesPage)).toEqual({ data: [12] });
  return { ...world, refused };
}

test('discard() of a refused write that is still shown reruns writes that depend on it', async () => {
  const { device, refused } = await refusedBelow();
  await device.replica.discard(refused);
  expect(await device.see(notesPage)).toEqual({ data: [11] });
});

test('submit() that replaces a refused write that is still shown reruns writes that depend on it', async () => {
  const { device, refused } = await refusedBelow();
  await device.submit(addToFirst(100), refused);
  expect(await device.see(notesPage)).toEqual({ data: [111] });
  expect((await device.replica.writesById([refused])).length).toBe(0);
});

test('submit() that fails does not affect the view, although it replaces a refused write', async () => {
  const { device, fence } = await noteWorlds();
  const ids = [];
  for (const n of [2, 3, 4]) ids.push(await device.submit(createNote(n)));
  const [first, second] = await device.replica.outgoing(ALL);
  await device.replica.settle(
    fence,
    [first!, second!].map((item) => verdictOn(item, 'refused', 1)),
  );
  await expect(device.submit({ abort: 'no' }, ids[0])).rejects.toThrow('transaction aborted');
  await device.replica.discard(ids[1]!);
  expect(await numbersIn(device)).toEqual([1, 2, 4]);
});

test('submit() that replaces a write already resolved stores nothing', async () => {
  const { device, refused } = await refusedBelow();
  await device.submit(addToFirst(100), refused);
  await expect(device.submit(addToFirst(100), refused)).rejects.toThrow('already resolved');
  expect(await device.see(notesPage)).toEqual({ data: [111] });
});

test('submit() that replaces a write without a verdict stores nothing', async () => {
  const { device } = await noteWorlds();
  const id = await device.submit(addToFirst(1));
  await expect(device.submit(addToFirst(2), id)).rejects.toThrow('no verdict yet');
  expect(await device.see(notesPage)).toEqual({ data: [2] });
});

test('resubmitAll() reruns writes that depend on a refused write that is still shown', async () => {
  const { device, fence } = await refusedBelow();
  await device.replica.resubmitAll(fence, 'f');
  expect(await device.see(notesPage)).toEqual({ data: [11] });
});

const note = { label: 'The second note', data: '{"n":2}' };

test('submit() stores the note of the app with the write and does not send it', async () => {
  const { device, fence } = await noteWorlds();
  const request = { query: JSON.stringify(createNote(2)), apiVersion: '4', note } as const;
  await device.replica.submit(request);
  const [item] = await device.replica.outgoing(ALL);
  expect(JSON.stringify(item)).not.toContain('second');
  await device.replica.moveToNewDevice(fence);
  const [moved] = await device.replica.writes();
  expect(moved).toMatchObject({ note, item: { seq: 1 } });
  const { device: id } = (await device.replica.state())!;
  const other = (await noteWorlds()).device;
  await other.replica.recover(id, [{ item: moved!.item, note }]);
  expect(await other.replica.writes()).toMatchObject([{ note }]);
});

test('submit() refuses a label and data that are too long together', async () => {
  const { device } = await noteWorlds();
  const submitted = (chars: number) =>
    device.replica.submit({
      query: JSON.stringify(createNote(2)),
      apiVersion: '4',
      note: { label: 'x', data: 'y'.repeat(chars - 1) },
    });
  expect(await submitted(LIMITS.writeNoteChars)).toHaveProperty('id');
  const { failed } = (await submitted(LIMITS.writeNoteChars + 1)) as { failed: QueryAnswer };
  expect(failed.body).toContain('these have 65537');
  expect(await device.replica.writes()).toHaveLength(1);
});

const textOf = (chars: number, char = 'x') => ({ do: [char.repeat(chars), createNote(2)] });

test.each([
  ['too many characters', textOf(SYNC_LIMITS.pushChars)],
  ['too many bytes', textOf(LIMITS.requestBytes / 3, '\u{6c34}')],
  ['too many ids', { do: [repeated(SYNC_LIMITS.idsPerItem + 1, { new_id: null }), createNote(2)] }],
])('submit() refuses a write that no push can carry: %s', async (_, query) => {
  const { device } = await noteWorlds();
  await expect(device.submit(query)).rejects.toThrow('request too large');
  expect(await device.replica.writes()).toEqual([]);
});

test('outgoing() limits a push by bytes, also for characters of several bytes', async () => {
  const { device } = await noteWorlds();
  for (let n = 0; n < 3; n++) await device.submit(textOf(LIMITS.requestBytes / 8, '\u{6c34}'));
  const bounds = { count: 9, chars: SYNC_LIMITS.pushChars };
  expect(await device.replica.outgoing(bounds)).toHaveLength(2);
});

test('outgoing() fills a push up to its limit', async () => {
  const { device } = await noteWorlds();
  for (const n of [2, 3, 4]) await device.submit(createNote(n));
  const [first, second] = await device.replica.outgoing(ALL);
  const chars = pushSizeOf(first!) + pushSizeOf(second!);
  expect(await device.replica.outgoing({ count: 9, chars })).toEqual([first, second]);
  expect(await device.replica.outgoing({ count: 9, chars: chars - 1 })).toEqual([first]);
  expect(await device.replica.outgoing({ count: 9, chars: 1 })).toEqual([first]);
  expect(await device.replica.outgoing({ count: 2, chars: 1e9 })).toEqual([first, second]);
});

/** A device in a state that would take long to reach. */
async function deviceWith(changes: Partial<ReplicaState>) {
  const { device, memory } = await noteWorlds();
  const state = await device.replica.state();
  const row = stateRow({ ...state!, ...changes });
  await createMemoryStore(memory).write(
    async (tx) => tx.apply({ puts: [{ space: 'sync', row }], deletes: [] }),
    { durability: 'relaxed' },
  );
  return new DeviceWorld(createMemoryStore(memory));
}

const { outboxWrites, outboxBytes } = LIMITS;

test.each([
  ['writes', { lastSeq: outboxWrites - 1, shownSeq: outboxWrites - 1 }],
  ['characters', { outboxSize: outboxBytes - 1 }],
])('submit() is refused with `outbox_full` when as many %s wait as may', async (_, changes) => {
  const device = await deviceWith(changes);
  await device.submit(createNote(2));
  await expect(device.submit(createNote(3))).rejects.toThrow('outbox_full');
  expect(await numbersIn(device)).toEqual([1, 2]);
});

test('submit() stores a write that only the hub can execute, even if the clock of the device is behind', async () => {
  const { hub, device, fence } = await noteWorlds();
  const body = { query: { lambda: '_', expr: createNote(7) } };
  await hub.answer({ create_function: { object: { name: 'make', role: 'server', body } } });
  await device.replica.apply(fence, await everything(hub.store));
  device.now -= DAY;
  await device.submit({ call: { function: 'make' }, arguments: [] });
  expect(await device.replica.outgoing(ALL)).toMatchObject([{ seq: 1 }]);
  expect(await numbersIn(device)).toEqual([1]);
});

test('settle() takes each verdict once, and none on another write with the same number', async () => {
  const { device, fence } = await noteWorlds();
  const { replica } = device;
  for (const n of [2, 3]) await device.submit(createNote(n));
  const [first, second] = await replica.outgoing(ALL);
  const other = verdictOn({ seq: 1, hash: second!.hash }, 'confirmed', 1);
  expect(await replica.settle(fence, [other])).toEqual([]);
  const verdict = verdictOn(first!, 'confirmed', 1);
  expect(await replica.settle(fence, [verdict])).toMatchObject([{ state: 'confirmed' }]);
  const { outboxSize } = (await replica.state())!;
  expect(await replica.settle(fence, [{ ...verdict, state: 'refused' }])).toEqual([]);
  expect(await replica.state()).toMatchObject({ settledSeq: 1, outboxSize });
  expect(await replica.outgoing(ALL)).toEqual([second]);
});

test('settle() leaves unsent what comes before a write with a verdict', async () => {
  const { device, fence } = await noteWorlds();
  for (const n of [2, 3]) await device.submit(createNote(n));
  const items = await device.replica.outgoing(ALL);
  await device.replica.settle(fence, [verdictOn(items[1]!, 'confirmed', 1)]);
  expect(await device.replica.outgoing(ALL)).toEqual(items);
});

const CHANGES_OF_PULL: Readonly<
  Record<string, (world: Awaited<ReturnType<typeof noteWorlds>>) => Promise<unknown>>
> = {
  'its last part': async ({ hub, device, fence }) =>
    device.replica.apply(fence, await everything(hub.store, { after: 't1' })),
  'a change of the sets': ({ device }) =>
    device.replica.setSets([{ id: 'notes', query: JSON.stringify({ documents: notes }) }]),
  'a restore of the hub': ({ device, fence }) => device.replica.resubmitAll(fence, 'f'),
};

test.each(Object.entries(CHANGES_OF_PULL))(
  'the stored parts of a pull are deleted after %s',
  async (_, change) => {
    const world = await noteWorlds();
    const { hub, device, fence } = world;
    const part = await everything(hub.store, { token: 't1', more: true, schema: undefined });
    await device.replica.apply(fence, part);
    const staged = () =>
      device.store.read(async (tx) => {
        const { ranges } = await tx.fetch([], [scan('sync', prefixRange(syncKey('staged')))]);
        return ranges[0]?.length;
      });
    expect(await staged()).toBe(1);
    await change(world);
    expect(await staged()).toBe(0);
  },
);

test('prune() counts from the time when the hub confirmed a write, by the time of the hub', async () => {
  const { hub, device, fence } = await noteWorlds();
  await device.submit(createNote(2));
  const [item] = await device.replica.outgoing(ALL);
  // The write has waited for a month.
  const confirmed = item!.now + 30 * DAY;
  const pull = async (cursor: number) => {
    const verdicts = [verdictOn(item!, 'confirmed', confirmed)];
    const pulled = await everything(hub.store, { cursor, lastSeq: 1, verdicts });
    await device.replica.apply(fence, pulled);
  };
  await pull(confirmed);
  expect(await device.replica.prune(7 * DAY)).toBe(0);
  device.now += 400 * DAY;
  expect(await device.replica.prune(7 * DAY)).toBe(0);
  await pull(confirmed + 7 * DAY);
  expect(await device.replica.prune(7 * DAY)).toBe(0);
  await pull(confirmed + 7 * DAY + 1);
  expect(await device.replica.prune(7 * DAY)).toBe(1);
});

/** Counts how often the view of all pending writes is rebuilt. */
const countRebuilds = () =>
  vi.spyOn(ReplicaView.prototype as unknown as { rebuild: () => unknown }, 'rebuild');

test('park() without parked writes changes nothing, and parked writes stay shown', async () => {
  const { device, fence } = await noteWorlds();
  await device.submit(createNote(2));
  await device.submit(createNote(3));
  const shown = { data: [1, 2, 3] };
  expect(await device.see(notesPage)).toEqual(shown);
  const rebuilds = countRebuilds();
  const before = await device.replica.state();
  await device.replica.park(fence, false);
  expect(await device.see(notesPage)).toEqual(shown);
  expect([await device.replica.state(), rebuilds.mock.calls.length]).toEqual([before, 0]);
  const states = async () => (await device.replica.writes()).map(({ state }) => state);
  await device.replica.park(fence, true);
  expect([await states(), await device.see(notesPage)]).toEqual([['parked', 'parked'], shown]);
  await device.submit(createNote(4));
  expect(await states()).toEqual(['parked', 'parked', 'local']);
  await device.replica.park(fence, false);
  expect(await states()).toEqual(['local', 'local', 'local']);
  expect(await device.see(notesPage)).toEqual({ data: [1, 2, 3, 4] });
  rebuilds.mockRestore();
});

test('a verdict does not rebuild the view of the writes that are still pending', async () => {
  const { device, fence } = await noteWorlds();
  for (const n of [2, 3, 4]) await device.submit(createNote(n));
  const shown = { data: [1, 2, 3, 4] };
  expect(await device.see(notesPage)).toEqual(shown);
  const rebuilds = countRebuilds();
  const [first, second, third] = await device.replica.outgoing(ALL);
  await device.replica.settle(fence, [
    verdictOn(first!, 'confirmed', 1),
    verdictOn(second!, 'refused', 1),
  ]);
  expect(await device.see(notesPage)).toEqual(shown);
  expect(rebuilds).not.toHaveBeenCalled();
  await device.replica.settle(fence, [verdictOn(third!, 'confirmed', 1)]);
  expect(await device.see(notesPage)).toEqual(shown);
  rebuilds.mockRestore();
});

test('writesById() finds renumbered writes, and parses the outbox once', async () => {
  const { device, fence } = await noteWorlds();
  const { replica } = device;
  for (let n = 0; n < 40; n++) await device.submit(createNote(n + 2));
  await replica.moveToNewDevice(fence);
  const ids = (await replica.writes()).map(({ id }) => id);
  let found: readonly string[] = [];
  const parses = await outboxParsesIn(async () => {
    found = (await replica.writesById([...ids, '1.99', 'x'])).map(({ id }) => id);
  });
  expect(found).toEqual(ids);
  expect(parses).toBeLessThanOrEqual(40);
});

test('unsent() returns all writes without a verdict, under the current device id', async () => {
  const { device, fence } = await noteWorlds();
  const { replica } = device;
  for (let n = 0; n < 40; n++) await device.submit(createNote(n + 2));
  const [first] = await replica.outgoing(ALL);
  await replica.settle(fence, [verdictOn(first!, 'confirmed', 1)]);
  await replica.moveToNewDevice(fence);
  const unsent = await replica.unsent();
  const { device: id } = (await replica.state())!;
  expect(unsent.map(({ item, ...rest }) => [rest.device, item.seq])).toEqual(
    Array.from({ length: 39 }, (_, i) => [id, i + 1]),
  );
});

test('park() does not parse writes that are already parked', async () => {
  const { device, fence } = await noteWorlds();
  const { replica } = device;
  for (let n = 0; n < 100; n++) await device.submit(createNote(n + 2));
  await replica.park(fence, true);
  await replica.park(fence, true);
  await device.submit(createNote(1000));
  expect(await outboxParsesIn(() => replica.park(fence, true))).toBeLessThan(5);
  const states = (await replica.writes()).map(({ state }) => state);
  expect(new Set(states)).toEqual(new Set(['parked']));
  await replica.park(fence, false);
  const after = (await replica.writes()).map(({ state }) => state);
  expect(new Set(after)).toEqual(new Set(['local']));
});

test('prune() does not parse pending writes', async () => {
  const { device } = await noteWorlds();
  for (let n = 0; n < 20; n++) await device.submit(createNote(n + 2));
  expect(await outboxParsesIn(() => device.replica.prune(0))).toBe(0);
});
