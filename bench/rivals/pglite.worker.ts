import { PGlite } from '@electric-sql/pglite';
import { worker } from '@electric-sql/pglite/worker';

await worker({
  init: ({ dataDir = '' }) => PGlite.create({ dataDir, relaxedDurability: true }),
});
