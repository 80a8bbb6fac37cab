/** How much one write may read: the same at the hub and on a device, whatever other writes there are. The limit is low here. */
import { expect, test, vi } from 'vitest';
import type * as Limits from '../limits.ts';
import { coll, create, doc, obj } from '../engine/testing/engine-world.ts';
import { everything } from './testing/device-world.ts';
import { statesOf } from './testing/hub-world.ts';
import { createNote, firstNote, notes, notesPage, noteWorlds } from './testing/note-worlds.ts';
import { count, openThings, role } from './testing/things.ts';

const READ_BYTES = 64 * 1024;

vi.mock('../limits.ts', async (original) => {
  const limits = await original<typeof Limits>();
  return { ...limits, LIMITS: { ...limits.LIMITS, readBytes: 64 * 1024 } };
});

const large = 'x'.repeat(READ_BYTES / 4);
const lengthOf = (ref: unknown) => ({ length: { select: ['data', 'text'], from: { get: ref } } });
/** A write that first reads these documents. */
const after = (refs: readonly unknown[], write: unknown) => ({
  do: [...refs.map(lengthOf), write],
});

async function openHub() {
  const world = await openThings();
  for (let n = 1; n <= 6; n++) await world.ask(create(doc('things', n), { text: large }));
  return world;
}

const things = (...ids: number[]) => ids.map((id) => doc('things', id));

test('push() refuses a write that reads too much with limit_exceeded, and makes the other writes', async () => {
  const world = await openHub();
  const device = await world.device();
  const writes = [
    device.item({ query: after(things(1, 2), create(doc('things', 11))) }),
    device.item({ query: after(things(1, 2, 3, 4, 5, 6), create(doc('things', 12))) }),
    device.item({ query: after(things(3, 4), create(doc('things', 13))) }),
    device.item({ query: after(things(5, 6), create(doc('things', 14))) }),
  ];
  const first = await device.push(...writes);
  expect(statesOf(first.verdicts)).toBe('confirmed refused confirmed confirmed');
  expect(first.verdicts[1]?.body).toContain('limit_exceeded');
  expect(await count(world)).toBe(9);
  expect(await device.push(...writes)).toEqual(first);
});

test('push() refuses a write whose permission check reads too much, whatever the predicate returns', async () => {
  const world = await openHub();
  const all = {
    foreach: { lambda: 'r', expr: lengthOf({ var: 'r' }) },
    collection: things(1, 2, 3, 4, 5, 6),
  };
  const predicate = { query: { lambda: 'x', expr: { do: [all, true] } } };
  await world.ask(role(obj({ resource: coll('things'), actions: obj({ create: predicate }) })));
  const device = await world.device(await world.user(1));
  const { verdicts } = await device.push(device.item({ query: create(coll('things')) }));
  expect(verdicts).toMatchObject([{ state: 'refused' }]);
  expect(verdicts[0]?.body).toContain('limit_exceeded');
});

const withText = (text: string) => obj({ data: obj({ text }) });
const everyLength = {
  sum: {
    map: {
      lambda: 'x',
      expr: { length: { select: ['data', 'text'], from: { get: { var: 'x' } }, default: '' } },
    },
    collection: { select: 'data', from: { paginate: { documents: notes } } },
  },
};

test('a query that reads too much of a copy is refused, and stores nothing', async () => {
  const { hub, device, fence } = await noteWorlds();
  for (let n = 0; n < 6; n++) await hub.answer({ create: notes, params: withText(large) });
  await device.replica.apply(fence, await everything(hub.store));
  expect(await device.see(everyLength)).toMatchObject({ errors: [{ code: 'limit_exceeded' }] });
  const both = device.submit({ do: [everyLength, createNote(2)] });
  await expect(both).rejects.toThrow('limit_exceeded');
  expect(await device.replica.writes()).toEqual([]);
});

test('apply() succeeds although a pending write then reads too much; later writes stay, and the write returns when possible', async () => {
  const { hub, device, fence } = await noteWorlds();
  const shown = () => device.see({ count: { documents: notes } });
  const predictions = async () => (await device.replica.writes()).map(({ predicted }) => predicted);
  await device.submit(createNote(2));
  await device.submit({ do: [everyLength, createNote(3)] });
  await device.submit(createNote(4));
  for (let n = 0; n < 6; n++) await hub.answer({ create: notes, params: withText(large) });
  // Documents of the pull itself are cached and do not count.
  await device.replica.apply(fence, await everything(hub.store));
  expect(await predictions()).toEqual([undefined, undefined, undefined]);
  expect(await shown()).toBe(10);
  await hub.answer({ update: firstNote, params: withText('small') });
  const later = await everything(hub.store);
  const puts = later.puts.filter(([, , stored]) => stored.includes('small'));
  await device.replica.apply(fence, { ...later, puts });
  expect(await predictions()).toEqual([undefined, 'refused', undefined]);
  expect(await shown()).toBe(9);
  for (let n = 1; n <= 6; n++) {
    const note = { select: ['data', n], from: { paginate: { documents: notes } } };
    await hub.answer({ update: note, params: withText('') });
  }
  await device.replica.apply(fence, await everything(hub.store));
  expect(await predictions()).toEqual([undefined, undefined, undefined]);
  expect(await shown()).toBe(10);
});

test('apply() succeeds although a pending write then takes too much work', async () => {
  const { hub, device, fence } = await noteWorlds();
  const letters = {
    findstrregex: { repeat: 'x', number: { select: ['data', 'n'], from: { get: firstNote } } },
    pattern: 'x',
    start: 0,
    num_results: 1000,
  };
  const pairs = {
    foreach: {
      lambda: 'x',
      expr: {
        foreach: { lambda: 'y', expr: { merge: { var: 'x' }, with: { var: 'y' } } },
        collection: letters,
      },
    },
    collection: letters,
  };
  await device.submit({ do: [pairs, createNote(2)] });
  await hub.answer({ update: firstNote, params: obj({ data: obj({ n: 1000 }) }) });
  await device.replica.apply(fence, await everything(hub.store));
  expect((await device.replica.writes()).map(({ predicted }) => predicted)).toEqual(['refused']);
  expect(await device.see(notesPage)).toEqual({ data: [1000] });
});
