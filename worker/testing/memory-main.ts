/** The worker over a store in memory, for tests of everything but IndexedDB. */
import { createMemoryStore } from '../../src/store/memory.ts';
import { serve } from '../serve.ts';

serve({
  openStore: () =>
    Promise.resolve({
      store: createMemoryStore(),
      birth: 'in memory',
      isNew: false,
      loss: undefined,
      acknowledgeLoss: () => Promise.resolve(),
      afterEnds: () => Promise.resolve(),
      maybeFlush: () => Promise.resolve(),
      verify: () => Promise.resolve([]),
      destroy: () => Promise.resolve(),
    }),
  destroyStore: () => Promise.resolve(),
  isShared: false,
});
