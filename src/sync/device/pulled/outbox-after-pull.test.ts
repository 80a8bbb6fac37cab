import { expect, test } from 'vitest';
import { everything, verdictOn } from '../../testing/device-world.ts';
import { createNote, notes, notesPage, noteWorlds } from '../../testing/note-worlds.ts';
import { outboxParsesIn } from '../../testing/outbox-parses.ts';

const WRITES = 200;
const JUDGED = 10;

/** A device with many writes, and a function that pulls the verdicts on the next ones. */
async function manyWrites() {
  const { hub, device, fence } = await noteWorlds();
  const { replica } = device;
  for (let n = 2; n < WRITES + 2; n++) await device.submit(createNote(n));
  const pull = async (): Promise<void> => {
    const items = await replica.outgoing({ count: JUDGED, chars: 1e9 });
    const verdicts = items.map((item) => verdictOn(item, 'refused', 1));
    const lastSeq = items.at(-1)?.seq ?? 0;
    await replica.apply(fence, await everything(hub.store, { verdicts, lastSeq }));
  };
  return { device, pull };
}

test('a pull and the next read parse only the writes that the pull changes, however many are pending', async () => {
  const { device, pull } = await manyWrites();
  await pull();
  await device.see(notesPage);
  const parses = await outboxParsesIn(async () => {
    await pull();
    await device.see(notesPage);
  });
  expect(parses).toBeLessThan(4 * JUDGED);
  expect(await device.see({ count: { documents: notes } })).toBe(1 + WRITES - 2 * JUDGED);
});

test('a write that is rerun sees earlier writes that are not rerun', async () => {
  const { device, pull } = await manyWrites();
  const n = { add: [1000, { count: { documents: notes } }] };
  await device.submit({ create: notes, params: { object: { data: { object: { n } } } } });
  const countOf = (number: number) =>
    device.see({ count: { match: { index: 'by_n' }, terms: number } });
  expect(await countOf(1000 + 1 + WRITES)).toBe(1);
  await pull();
  expect(await countOf(1000 + 1 + WRITES - JUDGED)).toBe(1);
});

test('a write without a verdict stays shown, although the hub knows a write with its number', async () => {
  const { hub, device, fence } = await noteWorlds();
  await device.submit(createNote(2));
  await device.replica.apply(fence, await everything(hub.store, { lastSeq: 1 }));
  expect(await device.see({ count: { documents: notes } })).toBe(2);
});

test('a write that depends on another rerun write is rerun after it', async () => {
  const { hub, device, fence } = await noteWorlds();
  await hub.answer(createNote(2));
  await device.replica.apply(fence, await everything(hub.store));
  const { data: refs } = (await device.see({ paginate: { documents: notes } })) as {
    readonly data: readonly unknown[];
  };
  const plus = (ref: unknown, n: number) => ({
    object: {
      data: { object: { n: { add: [{ select: ['data', 'n'], from: { get: ref } }, n] } } },
    },
  });
  const [first, second] = refs;
  await device.submit({ update: second, params: plus(first, 10) });
  await device.submit({ create: notes, params: plus(second, 100) });
  expect(await device.see(notesPage)).toEqual({ data: [1, 11, 111] });
  await hub.answer({ update: first, params: { object: { data: { object: { n: 5 } } } } });
  await device.replica.apply(fence, await everything(hub.store));
  expect(await device.see(notesPage)).toEqual({ data: [5, 15, 115] });
});
