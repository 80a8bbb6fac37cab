/** Opens the store of a hub: a folder with PGlite, or a server that speaks the PostgreSQL protocol. */
import { resolve } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { CommitNotice, Lease } from '../../src/engine/host.ts';
import { HEAD, readHead } from '../../src/engine/transactions.ts';
import { Refusal } from '../../src/errors.ts';
import type { Store } from '../../src/store/port.ts';
import { TENANT_DEFAULT } from '../settings/option-values.ts';
import type { HubSettings } from '../settings/settings.ts';
import { freeBytesAt, hasDiskRoom, KEPT_FREE_BYTES, withDiskRoom } from './disk-room.ts';
import { LentDatabase } from '../sql/lent-database.ts';
import type { SqlConnection } from '../sql/sql-client.ts';
import { rollback } from '../sql/statements.ts';
import { dataIn, takeFolder } from './folder-lock.ts';
import { hasHubRows } from './hub-rows.ts';
import { beginFolder, isMade, requireOwn } from './new-folder.ts';
import { OtherCommits } from './other-commits.ts';
import { isMemory, openPglite } from '../sql/pglite-database.ts';
import { PgDatabase } from '../sql/pg-database.ts';
import { startUpkeep } from './pglite-upkeep.ts';
import { rowOver } from './sql-transactions.ts';
import { newWriter, openTables } from './sql-tables.ts';

export type StorePlace =
  | { readonly data: string }
  /** `tenant` selects the rows of one hub in the database; all processes of a hub use the same tenant. */
  | { readonly postgres: string; readonly tenant?: string };

export const storePlaceOf = ({
  data,
  postgres,
  tenant,
}: Pick<HubSettings, 'data' | 'postgres' | 'tenant'>): StorePlace =>
  postgres === undefined ? { data } : { postgres, tenant };

export interface HubStoreOptions {
  /** A folder is opened with PGlite. `memory:` is a PGlite whose data are lost when the process ends. */
  readonly at: StorePlace;
  /** Refuse a folder or a tenant without data of a hub instead of creating them. */
  readonly mustExist?: boolean;
  /** Write nothing to the server, which may be a standby: its tables must already be up to date. */
  readonly isReadOnly?: boolean;
  /** The maximum number of connections to a server. */
  readonly connectionsMax?: number;
  /** Receives messages for the operator about automatic actions, such as taking over the lock of a process that has ended. */
  readonly say?: (sentence: string) => void;
  /** Receives failures of the database in full; callers only get their code. */
  readonly report?: (reason: unknown) => void;
  /** Called when all data were lost: those of a database in memory whose thread has ended. */
  readonly onLost?: () => void;
}

export interface HubStore {
  readonly store: Store;
  /** Describes where the data are, without a password. */
  readonly describe: string;
  /** For `EngineOptions.lease`: the only opener of a store need not check whether others have changed the data. */
  readonly lease: Lease | undefined;
  /**
   * Reports commits of other processes on the same tenant, in order. If the `previous` of a notice is later than the `ts` of the
   * notice before, it stands for all commits in between, and their changes are unknown. If its `ts` is
   * earlier, the store was set back to that time, and has lost the later commits.
   * @returns a function that removes the listener
   */
  onOtherCommit(listener: (notice: CommitNotice) => void): () => void;
  /** Lets a thread of this process open the same store. Its commits are reported like those of another process. */
  lend(): StoreLoan;
  /** Whether a hub serves these data now, as far as the server can tell. Always false for a folder, which has only one opener. */
  isServed(): Promise<boolean>;
  /** Round trips to the database since the store was opened. */
  roundTrips(): number;
  /** Waits for transactions in progress. */
  close(): Promise<void>;
}

/**
 * How the thread reaches the database: with its own connections to a server, or through a port to the single connection of an
 * embedded database.
 */
export type StoreAccess = { readonly tenant: string } & (
  | { readonly postgres: string }
  /** `folder`: the disk of this folder must have room for writes. */
  | { readonly port: MessagePort; readonly folder?: string | undefined }
);

export interface StoreLoan {
  /** Pass this to `openBorrowedStore()` in the thread. Can be used once. */
  readonly access: StoreAccess;
  /** Must be called when the thread has ended. */
  end(): Promise<void>;
}

const CONNECTIONS_MAX_DEFAULT = 16;
const CONNECT_DEADLINE_MS = 10_000;
const ANSWER_DEADLINE_MS = 60_000;

/** @throws Refusal `storage_unavailable`, `storage_blocked` */
export async function openHubStore(options: HubStoreOptions): Promise<HubStore> {
  const { at } = options;
  return 'postgres' in at
    ? openPostgres(at.postgres, at.tenant ?? TENANT_DEFAULT, options)
    : openFolder(at.data, options);
}

async function openFolder(
  data: string,
  { say = () => undefined, mustExist = false, report = () => undefined, onLost }: HubStoreOptions,
): Promise<HubStore> {
  if (mustExist && !isMade(dataIn(data))) throw noData(resolve(data));
  const tenant = TENANT_DEFAULT;
  const folder = isMemory(data) ? undefined : await takeFolder(data, say);
  const database = openPglite(folder ? folder.data : data, undefined, onLost);
  let isOpen = true;
  /** False while it is unknown what a thread that ended has committed. */
  let isHeadKnown = true;
  const listeners = new Set<(notice: CommitNotice) => void>();
  const announce = (notice: CommitNotice): void => {
    for (const listener of listeners) listener(notice);
  };
  /**
   * Called when a thread ended while it held the connection: rolls back its transaction and announces that the latest commits are
   * unknown.
   */
  const recover = async (connection: SqlConnection): Promise<void> => {
    isHeadKnown = false;
    await connection.run([rollback([])]);
    const { ts } = readHead(await rowOver(connection, tenant, HEAD));
    announce({ previous: ts, ts, rows: [], entries: [] });
    isHeadKnown = true;
  };
  try {
    if (folder) await requireOwn(folder.data, folder.user);
    const made = folder && (await beginFolder(folder.data));
    const store = await openTables(database, tenant, { report });
    await made?.();
    const stopUpkeep = startUpkeep({
      database,
      hasRoom: (bytes) => !folder || hasDiskRoom(folder.data, freeBytesAt, bytes + KEPT_FREE_BYTES),
      say,
      report,
    });
    return {
      store: folder ? withDiskRoom(store, folder.data) : store,
      describe: folder
        ? `PGlite in ${folder.path}`
        : 'PGlite in memory, lost when this process ends',
      lease: { term: () => (isOpen && isHeadKnown ? 1 : undefined), isPermanent: true },
      // Only threads of this process report commits: no other process can open the folder.
      onOtherCommit(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      lend() {
        const { port1: port, port2 } = new MessageChannel();
        const lent = new LentDatabase({ database, port, onCommitted: announce, recover });
        return { access: { tenant, port: port2, folder: folder?.data }, end: () => lent.end() };
      },
      isServed: () => Promise.resolve(false),
      roundTrips: () => database.roundTrips,
      async close() {
        isOpen = false;
        await stopUpkeep();
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

const noData = (where: string): Refusal =>
  new Refusal('storage_unavailable', `${where} holds no data of a hub.`);

async function openPostgres(
  url: string,
  tenant: string,
  {
    connectionsMax = CONNECTIONS_MAX_DEFAULT,
    isReadOnly = false,
    mustExist = false,
    report,
  }: HubStoreOptions,
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
  const options = { writer, watched: others, isReadOnly, report };
  const describe = `PostgreSQL at ${withoutPassword(url)}${tenant === TENANT_DEFAULT ? '' : `, tenant ${tenant}`}`;
  const opening = openTables(database, tenant, options).then(async (opened) => {
    // The name of the tenant may be misspelt: an empty dump would pass for a backup.
    if (mustExist && !(await hasHubRows(opened))) throw noData(describe);
    return opened;
  });
  const store = await opening.catch(async (reason: unknown) => {
    await database.close();
    throw reason;
  });
  others.follow(store);
  return {
    store,
    describe,
    lease: undefined,
    onOtherCommit: (listener) => others.listen(listener),
    lend: () => ({ access: { tenant, postgres: url }, end: () => Promise.resolve() }),
    // False if the server does not tell who is connected.
    isServed: () => others.hasListeners().catch(() => false),
    roundTrips: () => database.roundTrips,
    async close() {
      others.close();
      await store.close();
      await database.close();
    },
  };
}

/** Removes the password, and the query of the URL, whose options may contain one. */
function withoutPassword(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `${hostname || 'localhost'}${port === '' ? '' : `:${port}`}${pathname}`;
  } catch {
    return 'a server';
  }
}
