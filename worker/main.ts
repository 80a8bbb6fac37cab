/** The worker of a page, over IndexedDB. */
import { destroyIndexedDbStore, openStoredDatabase } from './store/open-store.ts';
import { salvageDatabase } from './store/packed/salvage-database.ts';
import { serve } from './serve.ts';

serve({
  openStore: openStoredDatabase,
  destroyStore: (name) => destroyIndexedDbStore(name),
  salvage: salvageDatabase,
  isShared: true,
});
