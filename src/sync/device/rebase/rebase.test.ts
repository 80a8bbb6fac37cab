/** Which pending writes run again after a pull: those whose result may be another one now. */
import { expect, test } from 'vitest';
import { everything, verdictOn } from '../../testing/device-world.ts';
import { addToFirst, createNote, notes, notesPage, noteWorlds } from '../../testing/note-worlds.ts';
import { when } from '../../testing/simulation/sim-schema.ts';

const ALL = { count: 9, chars: 1e9 };

/** Creates a note whose number is 100 plus the number of notes with the number `n`. */
const createCounting = (n: number) => ({
  create: notes,
  params: {
    object: {
      data: {
        object: { n: { add: [100, { count: { match: { index: 'by_n' }, terms: n } }] } },
      },
    },
  },
});

test('a write that read a range of an index runs again when a document enters the range', async () => {
  const { hub, device, fence } = await noteWorlds();
  await device.submit(createCounting(2));
  expect(await device.see(notesPage)).toEqual({ data: [1, 100] });
  await hub.answer(createNote(2));
  await device.replica.apply(fence, await everything(hub.store));
  expect(await device.see(notesPage)).toEqual({ data: [1, 2, 101] });
});

test('a write that read a range of an index runs again when a document leaves the range', async () => {
  const { hub, device, fence } = await noteWorlds();
  await device.submit(createCounting(1));
  expect(await device.see(notesPage)).toEqual({ data: [1, 101] });
  const { puts, ...rest } = await everything(hub.store);
  const leaves = puts.map(([collection, id]) => [collection, id] as const);
  await device.replica.apply(fence, { ...rest, puts: [], leaves });
  expect(await device.see(notesPage)).toEqual({ data: [100] });
});

test('a write that read a range of an index runs again when a refused update moves a document back into it', async () => {
  const { hub, device, fence } = await noteWorlds();
  await device.submit(addToFirst(4));
  await device.submit(createCounting(1));
  expect(await device.see(notesPage)).toEqual({ data: [5, 100] });
  const [item] = await device.replica.outgoing(ALL);
  const verdicts = [verdictOn(item!, 'refused', 1)];
  await device.replica.apply(fence, await everything(hub.store, { lastSeq: 1, verdicts }));
  expect(await device.see(notesPage)).toEqual({ data: [1, 101] });
});

test('a write runs again when an earlier one no longer creates the document that it counted', async () => {
  const { hub, device, fence } = await noteWorlds();
  const isAlone = { lt: [{ count: { documents: notes } }, 2] };
  await device.submit(when(isAlone, createNote(50), null));
  await device.submit(createCounting(50));
  expect(await device.see(notesPage)).toEqual({ data: [1, 50, 101] });
  await hub.answer(createNote(2));
  await device.replica.apply(fence, await everything(hub.store));
  expect(await device.see(notesPage)).toEqual({ data: [1, 2, 100] });
});

test('a write that fails when it runs again is sent without the digest of its earlier result', async () => {
  const { hub, device, fence } = await noteWorlds();
  await device.submit(addToFirst(1));
  const [before] = await device.replica.outgoing(ALL);
  expect(before!.digest).toMatch(/^[\da-f]+$/);
  const { puts, ...rest } = await everything(hub.store);
  const leaves = puts.map(([collection, id]) => [collection, id] as const);
  await device.replica.apply(fence, { ...rest, puts: [], leaves });
  expect(await device.replica.writes()).toMatchObject([{ predicted: 'refused' }]);
  expect(await device.replica.outgoing(ALL)).toEqual([{ ...before, digest: undefined }]);
});
