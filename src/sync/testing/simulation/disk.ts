/** What a device has stored, whichever store it is that its tabs have over it. */
import { createMemoryStore, SharedMemory } from '../../../store/memory.ts';
import type { Store } from '../../../store/port.ts';
import type { Process } from './processes.ts';

export interface Disk {
  /** All that is stored, as it is at this moment. */
  readonly memory: SharedMemory;
  /** Where else a tab may die than between the calls of its store. */
  readonly places: readonly string[];
  storeOf(process: Process): Store;
  /** Without any process in between, and as somebody finds it who opens it now. */
  direct(): Store;
  copy(): Disk;
  /** A sentence for each thing that a store makes of it otherwise than it was written. */
  damage(): Promise<readonly string[]>;
}

export const memoryDisk = (memory = new SharedMemory()): Disk => ({
  memory,
  places: [],
  storeOf: () => createMemoryStore(memory),
  direct: () => createMemoryStore(memory),
  copy() {
    const copy = new SharedMemory();
    copy.version = memory.version;
    return memoryDisk(copy);
  },
  damage: () => Promise.resolve([]),
});
