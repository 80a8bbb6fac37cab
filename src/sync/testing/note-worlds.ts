/** A hub with numbered notes, and a device with a copy of them. */
import { EngineWorld } from '../../engine/testing/engine-world.ts';
import { createMemoryStore, SharedMemory } from '../../store/memory.ts';
import type { SetPart } from '../protocol/sets.ts';
import { DeviceWorld, everything, WELCOMED } from './device-world.ts';

export const notes = { collection: 'notes' };
/** All notes, as a part of a set. */
export const NOTES_PART: SetPart = { kind: 'collection', collection: 1024 };
/** The numbers of all notes. */
export const notesPage = {
  map: { lambda: 'x', expr: { select: ['data', 'n'], from: { get: { var: 'x' } } } },
  collection: { paginate: { documents: notes } },
};
const withNumber = (n: unknown) => ({ object: { data: { object: { n } } } });
export const createNote = (n: number) => ({ create: notes, params: withNumber(n) });

export const firstNote = { select: ['data', 0], from: { paginate: { documents: notes } } };
export const addToFirst = (n: number) => ({
  let: [{ r: firstNote }],
  in: {
    update: { var: 'r' },
    params: withNumber({ add: [{ select: ['data', 'n'], from: { get: { var: 'r' } } }, n] }),
  },
});

/** The hub has one note, with number 1. */
export async function noteWorlds() {
  const hub = new EngineWorld();
  await hub.answer({ create_collection: { object: { name: 'notes' } } });
  const terms = [{ object: { field: ['data', 'n'] } }];
  await hub.answer({ create_index: { object: { name: 'by_n', source: notes, terms } } });
  await hub.answer(createNote(1));
  const memory = new SharedMemory();
  const device = new DeviceWorld(createMemoryStore(memory));
  await device.replica.adopt('https://hub', WELCOMED, 'd1');
  const fence = await device.replica.takeFence();
  await device.replica.apply(fence, await everything(hub.store));
  return { hub, device, fence, memory };
}
