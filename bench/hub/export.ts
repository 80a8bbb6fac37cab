/** One export of the query log over a hub's store, in a process with a heap limit of 96 MiB: `npm run bench:hub -- export [lines]`. */
import { openHubStore } from '../../hub/store/open-store.ts';
import { startPostgres } from '../../hub/testing/postgres-server.ts';
import { measureExport } from '../measure-export.ts';

const [, lines] = process.argv.slice(2);
const server = await startPostgres();
const hubStore = await openHubStore({ at: { postgres: server.url } });
try {
  await measureExport(hubStore.store, Number(lines ?? 1_000_000));
} finally {
  await hubStore.close();
  await server.stop();
}
