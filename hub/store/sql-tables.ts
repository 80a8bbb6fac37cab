/** Opens a store on a database after bringing its tables up to date. */
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../../src/errors.ts';
import { migrate, requireMigrated } from '../sql/migrations.ts';
import { SqlFailure, type SqlDatabase } from '../sql/sql-client.ts';
import { SqlStore, type SqlStoreOptions } from './sql-store.ts';
import { READ_ONLY } from '../sql/sql-refusals.ts';
import { LANES, makeSequencers, markCommit } from '../sql/statements.ts';

/** Generates a name that no other store has or had. */
export const newWriter = (): string => randomBytes(12).toString('hex');

/** The server may be replaced by another one during the migration, so lost connections are retried this often, with this pause. */
const ATTEMPTS_MAX = 10;
const PAUSE_MS = 500;

const STAYS_READ_ONLY =
  'the server is read-only. If it is a standby, name the primary server, or promote it; otherwise see default_transaction_read_only and the space on its disk';

/** @throws Refusal `storage_unavailable`; the database stays open, and the caller must close it */
export async function openTables(
  database: SqlDatabase,
  tenant: string,
  {
    isReadOnly = false,
    wait = (ms) => pause(ms),
    writer = newWriter(),
    ...options
  }: Partial<Pick<SqlStoreOptions, 'writer' | 'watched' | 'random' | 'report' | 'wait'>> & {
    readonly isReadOnly?: boolean;
  } = {},
): Promise<SqlStore> {
  // The first commit of each lane can then be looked up, too. A single connection has no failover to another server, and a hub must
  // start on it if its disk is full.
  const marked = isReadOnly || database.isExclusive ? [] : Object.values(LANES);
  let wasConnected = false;
  for (let attempts = 1; ; attempts += 1) {
    try {
      const connection = await database.connect();
      wasConnected = true;
      try {
        if (isReadOnly) await requireMigrated(connection);
        else {
          await migrate(connection);
          const marks = marked.length > 0 ? [markCommit(tenant, marked, writer, 0)] : [];
          await connection.run([makeSequencers(tenant), ...marks]);
        }
        break;
      } finally {
        connection.release();
      }
    } catch (reason) {
      if (!(reason instanceof SqlFailure)) throw reason;
      // If the first connection fails, the address is probably wrong. Only later failures are worth another attempt.
      if (wasConnected && reason.isRetryable && attempts < ATTEMPTS_MAX) {
        await wait(PAUSE_MS);
        continue;
      }
      const why = reason.code === READ_ONLY ? STAYS_READ_ONLY : reason.message;
      throw new Refusal('storage_unavailable', `Cannot open the database: ${why}.`, {
        cause: reason,
      });
    }
  }
  return new SqlStore({
    database,
    tenant,
    writer,
    marked,
    random: () => randomInt(1_000_000) / 1_000_000,
    wait,
    ...options,
  });
}
