/** The worker of a page, over IndexedDB. */
import { destroyIndexedDbStore, openStoredDatabase } from './store/open-store.ts';
import { serve } from './serve.ts';

serve({
  openStore: openStoredDatabase,
  destroyStore: (name) => destroyIndexedDbStore(name),
  isShared: true,
});
