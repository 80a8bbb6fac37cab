/** The worker of a page, over IndexedDB. */
import { openDexieDatabase } from './dexie-store.ts';
import { serve } from './serve.ts';

serve({ openStore: openDexieDatabase });
