/** Test kit: hub stores on one PGlite and on one PostgreSQL server, each test with tenants of its own. */
import { afterAll } from 'vitest';
import type { HubStore } from '../store/open-store.ts';
import { openHubStore } from '../store/open-store.ts';
import { startPostgres, type PostgresServer } from './postgres-server.ts';

/** A server for the tests of a file, stopped after them. */
export function sharedPostgres(): () => Promise<PostgresServer> {
  let server: Promise<PostgresServer> | undefined;
  afterAll(async () => (await server)?.stop());
  return () => (server ??= startPostgres());
}

let tenants = 0;

export const freshTenant = (): string =>
  `t-${process.pid}-${Date.now().toString(36)}-${(tenants += 1)}`;

export async function openOnPostgres(server: PostgresServer, tenant: string): Promise<HubStore> {
  return openHubStore({ at: { postgres: server.url }, tenant, connectionsMax: 4 });
}
