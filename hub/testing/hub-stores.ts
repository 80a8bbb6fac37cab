/** Test kit: databases that the tests of a file share. Each test takes tenants of its own, for starting a database takes seconds. */
import { afterAll } from 'vitest';
import { PgDatabase } from '../sql/pg-database.ts';
import { openHubStore, type HubStore } from '../store/open-store.ts';
import { openPreparedPglite } from './prepared-pglite.ts';
import { startPostgres, type PostgresServer } from './postgres-server.ts';

/** On a machine that has much else to do. */
const STOP_MS = 60_000;

/** A server for the tests of a file, stopped after them. */
export function sharedPostgres(): () => Promise<PostgresServer> {
  let server: Promise<PostgresServer> | undefined;
  afterAll(async () => (await server)?.stop(), STOP_MS);
  return () => (server ??= startPostgres());
}

/** Both kinds of database, each begun when it is first asked for. */
export function sharedDatabases(): {
  readonly pglite: () => Promise<PgDatabase>;
  readonly postgres: () => Promise<PgDatabase>;
} {
  const server = sharedPostgres();
  let pglite: PgDatabase | undefined;
  let postgres: PgDatabase | undefined;
  // A test that failed may have kept a connection, on which this would wait: the server is stopped all the same.
  afterAll(() => {
    void pglite?.close();
    void postgres?.close();
  });
  return {
    pglite: async () => (pglite ??= openPreparedPglite()),
    postgres: async () => {
      // Another server that speaks the wire: docs/hub-sql.md.
      const url = process.env['BURROW_POSTGRES_URL'] ?? (await server()).url;
      return (postgres ??= openServer(url));
    },
  };
}

export const openServer = (url: string): PgDatabase =>
  new PgDatabase({
    isExclusive: false,
    canListen: true,
    pool: { connectionString: url, max: 4 },
  });

let tenants = 0;

export const freshTenant = (): string =>
  `t-${process.pid}-${Date.now().toString(36)}-${(tenants += 1)}`;

export const openOnPostgres = (
  { url }: Pick<PostgresServer, 'url'>,
  tenant: string,
  connectionsMax = 4,
): Promise<HubStore> => openHubStore({ at: { postgres: url, tenant }, connectionsMax });
