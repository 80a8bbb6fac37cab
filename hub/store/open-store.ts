/** Opens what a hub stands on: a folder with PGlite in it, or a server that speaks the Postgres wire. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CommitNotice, Lease } from '../../src/engine/host.ts';
import { Refusal } from '../../src/errors.ts';
import type { Store } from '../../src/store/port.ts';
import { dataIn, takeFolder } from './folder-lock.ts';
import { Health, type StoreHealth } from '../sql/health.ts';
import { OtherCommits } from './other-commits.ts';
import { isMemory, openPglite } from '../sql/pglite-database.ts';
import { PgDatabase } from '../sql/pg-database.ts';
import { newWriter, openTables } from './sql-tables.ts';

export interface HubStoreOptions {
  /** Where the data is. A folder is opened with PGlite; `memory:` is gone with the process. */
  readonly at: { readonly data: string } | { readonly postgres: string };
  /** A folder without data of a hub is refused, not made: what is to be read must be there. */
  readonly isThere?: boolean;
  /** Several hubs may share a database, each with a tenant of its own; processes of one hub have the same. */
  readonly tenant?: string;
  /** Connections to a server at most; more wait. */
  readonly connectionsMax?: number;
  /** What the operator should know, such as that a lock of a dead process was taken over. */
  readonly say?: (sentence: string) => void;
}

export interface HubStore {
  readonly store: Store;
  readonly kind: 'pglite' | 'postgres';
  /** Where the data is, for the start-up line; without a password. */
  readonly describe: string;
  /** For `EngineOptions.lease`: who has the data for itself need not ask whether others have changed it. */
  readonly lease: Lease | undefined;
  /** Answers soon, also while the database is busy or gone. */
  health(): Promise<StoreHealth>;
  /**
   * Commits of other processes on the same tenant, in their order. A notice whose `previous` lies after the one before it stands
   * for all between: what they changed is not known. Returns the way to stop.
   */
  onOtherCommit(listener: (notice: CommitNotice) => void): () => void;
  /** Round trips to the database until now. */
  roundTrips(): number;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

const TENANT = /^[a-z0-9_-]{1,63}$/u;
const CONNECTIONS_MAX_DEFAULT = 16;
const CONNECT_DEADLINE_MS = 10_000;
const ANSWER_DEADLINE_MS = 60_000;

/** @throws Refusal `storage_unavailable`, `storage_blocked`, `bad request` */
export async function openHubStore(options: HubStoreOptions): Promise<HubStore> {
  const { at, tenant = 'main' } = options;
  if (!TENANT.test(tenant))
    throw new Refusal(
      'bad request',
      `The tenant is ${JSON.stringify(tenant)}: up to 63 small letters, digits, _ and - are allowed.`,
    );
  return 'postgres' in at
    ? openPostgres(at.postgres, tenant, options)
    : openFolder(at.data, tenant, options);
}

async function openFolder(
  data: string,
  tenant: string,
  { say = () => undefined, isThere = false }: HubStoreOptions,
): Promise<HubStore> {
  if (isThere) requireData(data);
  const folder = isMemory(data) ? undefined : await takeFolder(data, say);
  const database = openPglite(folder ? folder.data : data);
  const health = new Health(database);
  let isOpen = true;
  try {
    const store = await openTables(database, tenant);
    return {
      store,
      kind: 'pglite',
      describe: folder ? `PGlite in ${folder.path}` : 'PGlite in memory, gone with this process',
      lease: { isHeld: () => isOpen, isForGood: true },
      health: () => health.look(),
      // Nobody else can open the folder.
      onOtherCommit: () => () => undefined,
      roundTrips: () => database.roundTrips,
      async close() {
        isOpen = false;
        health.close();
        await store.close();
        await database.close();
        await folder?.release();
      },
    };
  } catch (reason) {
    await database.close();
    await folder?.release();
    throw reason;
  }
}

function requireData(folder: string): void {
  if (!existsSync(dataIn(folder)))
    throw new Refusal('storage_unavailable', `There are no data of a hub in ${resolve(folder)}.`);
}

async function openPostgres(
  url: string,
  tenant: string,
  { connectionsMax = CONNECTIONS_MAX_DEFAULT }: HubStoreOptions,
): Promise<HubStore> {
  const database = new PgDatabase({
    isExclusive: false,
    canListen: true,
    pool: {
      connectionString: url,
      max: connectionsMax,
      connectionTimeoutMillis: CONNECT_DEADLINE_MS,
      application_name: 'burrow',
      keepAlive: true,
      keepAliveInitialDelayMillis: CONNECT_DEADLINE_MS,
    },
    answerMs: ANSWER_DEADLINE_MS,
  });
  const writer = newWriter();
  const others = new OtherCommits({ database, tenant, writer });
  const store = await openTables(database, tenant, { writer, watched: others }).catch(
    async (reason: unknown) => {
      await database.close();
      throw reason;
    },
  );
  others.follow(store);
  const health = new Health(database);
  return {
    store,
    kind: 'postgres',
    describe: `PostgreSQL at ${withoutPassword(url)}`,
    lease: undefined,
    health: () => health.look(),
    onOtherCommit: (listener) => others.listen(listener),
    roundTrips: () => database.roundTrips,
    async close() {
      health.close();
      others.close();
      await store.close();
      await database.close();
    },
  };
}

/** What an operator may read: no password, no options that may hold one. */
function withoutPassword(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `${hostname || 'localhost'}${port === '' ? '' : `:${port}`}${pathname}`;
  } catch {
    return 'a server';
  }
}
