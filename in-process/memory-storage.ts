/** The host of a database in memory, which lasts as long as the object that the test holds. */
import { createMemoryStore, SharedMemory } from '../src/store/memory.ts';
import { createMemoryFiles, type FileStore } from '../src/sync/device/files/file-store.ts';
import type { DatabaseStorage, HostEnvironment } from '../worker/opening/find-store.ts';
import type { TokenVault } from '../worker/sync/token-vault.ts';
import { startCheapHashing } from './hash-here.ts';
import { LOSSLESS } from './lossless-store.ts';

export interface MemoryParts extends Required<
  Pick<HostEnvironment, 'clock' | 'network' | 'ended'>
> {
  /** The stored data, which remains while no worker has the database open. */
  readonly kept: MemoryKept;
}

export interface MemoryKept {
  memory: SharedMemory;
  readonly tokens: Map<string, string>;
  files: FileStore;
}

export const nothingKept = (): MemoryKept => ({
  memory: new SharedMemory(),
  tokens: new Map(),
  files: createMemoryFiles(),
});

export const memoryStorage = ({ kept, ...around }: MemoryParts): DatabaseStorage => ({
  ...around,
  openStore: () =>
    Promise.resolve({
      store: createMemoryStore(kept.memory),
      ...LOSSLESS,
      birth: 'in memory',
      destroy: () => destroy(kept),
    }),
  destroyStore: () => destroy(kept),
  isShared: false,
  vault: vaultOf(kept),
  files: {
    openFiles: () => ({
      ...kept.files,
      isUsed: () => Promise.resolve(true),
      close: () => undefined,
    }),
    forgetFiles: async () => {
      kept.files = createMemoryFiles();
    },
  },
  startHashing: startCheapHashing,
});

async function destroy(kept: MemoryKept): Promise<void> {
  kept.memory = new SharedMemory();
}

const vaultOf = ({ tokens }: MemoryKept): TokenVault => ({
  keep: async (database, token) => void tokens.set(database, token),
  kept: async (database) => tokens.get(database),
  forget: async (database) => void tokens.delete(database),
});
