/** The worker of a page, over IndexedDB. */
import { destroyStore } from './store/browser-store.ts';
import { openStoredDatabase } from './store/open-store.ts';
import { salvageDatabase } from './store/packed/salvage-database.ts';
import { serve } from './serve.ts';

serve({
  openStore: openStoredDatabase,
  destroyStore: (name) => destroyStore(name),
  salvage: salvageDatabase,
  isShared: true,
});
