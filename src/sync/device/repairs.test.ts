import { expect, test } from 'vitest';
import { verdictOn } from '../testing/device-world.ts';
import { addToFirst, createNote, notesPage, noteWorlds } from '../testing/note-worlds.ts';

const ALL = { count: 9, bytes: 1e9 };

test('rename() numbers what has no verdict anew', async () => {
  const { device, fence } = await noteWorlds();
  await device.submit(createNote(2));
  await device.submit(createNote(3));
  const before = await device.replica.outgoing(ALL);
  const [first] = before;
  await device.replica.settle(fence, [verdictOn(first!, 'confirmed', 1)]);
  const [, pending] = await device.replica.writes();
  const state = await device.replica.rename(fence);
  expect(state.lastSeq).toBe(1);
  expect((await device.replica.find([pending!.id])).map(({ item }) => item.seq)).toEqual([1]);
  const items = await device.replica.outgoing(ALL);
  expect(items.map(({ seq, query }) => [seq, query])).toEqual([[1, before[1]!.query]]);
  expect(items[0]!.hash).not.toBe(before[1]!.hash);
});

test('reenter() offers confirmed writes again that the restored hub lacks', async () => {
  const { device, fence } = await noteWorlds();
  await device.submit(createNote(2));
  const [item] = await device.replica.outgoing(ALL);
  await device.replica.settle(fence, [verdictOn(item!, 'confirmed', 1)]);
  expect(await device.replica.outgoing(ALL)).toEqual([]);
  await device.replica.reenter(fence, 'f');
  const again = await device.replica.outgoing(ALL);
  expect(again.map(({ hash }) => hash)).toEqual([item!.hash]);
});

/** Two writes that add, one on the other: the first is refused, and no pull has said so yet. */
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

test('discard() runs again what stood on a refused write that is still shown', async () => {
  const { device, refused } = await refusedBelow();
  await device.replica.discard(refused);
  expect(await device.see(notesPage)).toEqual({ data: [11] });
});

test('submit() in the place of a refused write that is still shown runs again what stood on that', async () => {
  const { device, refused } = await refusedBelow();
  await device.submit(addToFirst(100), refused);
  expect(await device.see(notesPage)).toEqual({ data: [111] });
  expect((await device.replica.find([refused])).length).toBe(0);
});

test('submit() in the place of a write that is gone keeps nothing', async () => {
  const { device, refused } = await refusedBelow();
  await device.submit(addToFirst(100), refused);
  await expect(device.submit(addToFirst(100), refused)).rejects.toThrow('resolved already');
  expect(await device.see(notesPage)).toEqual({ data: [111] });
});

test('submit() in the place of a write without a verdict keeps nothing', async () => {
  const { device } = await noteWorlds();
  const id = await device.submit(addToFirst(1));
  await expect(device.submit(addToFirst(2), id)).rejects.toThrow('no verdict yet');
  expect(await device.see(notesPage)).toEqual({ data: [2] });
});

test('reenter() runs again what stood on a refused write that is still shown', async () => {
  const { device, fence } = await refusedBelow();
  await device.replica.reenter(fence, 'f');
  expect(await device.see(notesPage)).toEqual({ data: [11] });
});
