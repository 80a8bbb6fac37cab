/** The worker of a page, over IndexedDB. */
import { destroyDexieStore, openDexieDatabase } from './store/open-store.ts';
import { serve } from './serve.ts';

serve({ openStore: openDexieDatabase, destroyStore: (name) => destroyDexieStore(name) });
