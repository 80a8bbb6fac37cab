/** The storage of a device, independent of the kind of store that its tabs have over it. */
import { createMemoryStore, SharedMemory } from '../../../store/memory.ts';
import type { Store } from '../../../store/port.ts';
import type { Process } from './processes.ts';

export interface Disk {
  /** Everything that is stored at this moment. */
  readonly memory: SharedMemory;
  /** Places where a tab may die, in addition to those between calls of its store. */
  readonly places: readonly string[];
  storeOf(process: Process): Store;
  /** Accesses the data without a process, as a store that is opened now would find it. */
  direct(): Store;
  copy(): Disk;
  /** A sentence for each difference between what a store reads and what was written. */
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
