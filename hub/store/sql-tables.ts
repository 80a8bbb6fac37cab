/** Opens a store on a database, after bringing its tables up to date. */
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../../src/errors.ts';
import { migrate, requireMigrated } from '../sql/migrations.ts';
import { SqlFailure, type SqlDatabase } from '../sql/sql-client.ts';
import { SqlStore, type SqlStoreOptions } from './sql-store.ts';
import { makeSequencers } from '../sql/statements.ts';

/** A name that no other store has, or had. */
export const newWriter = (): string => randomBytes(12).toString('hex');

/** A server may be replaced by another meanwhile: so often, and so long between. */
const ATTEMPTS_MAX = 10;
const PAUSE_MS = 500;

/** @throws Refusal `storage_unavailable`; the database stays open, and the caller's to close */
export async function openTables(
  database: SqlDatabase,
  tenant: string,
  {
    isReadOnly = false,
    wait = (ms) => pause(ms),
    ...options
  }: Partial<Pick<SqlStoreOptions, 'writer' | 'watched' | 'random' | 'report' | 'wait'>> & {
    readonly isReadOnly?: boolean;
  } = {},
): Promise<SqlStore> {
  let wasConnected = false;
  for (let attempts = 1; ; attempts += 1) {
    try {
      const connection = await database.connect();
      wasConnected = true;
      try {
        if (isReadOnly) await requireMigrated(connection);
        else {
          await migrate(connection);
          await connection.run([makeSequencers(tenant)]);
        }
        break;
      } finally {
        connection.release();
      }
    } catch (reason) {
      if (!(reason instanceof SqlFailure)) throw reason;
      // If nobody responds the address is wrong; a lost connection is worth another attempt.
      if (wasConnected && reason.isRetryable && attempts < ATTEMPTS_MAX) {
        await wait(PAUSE_MS);
        continue;
      }
      throw new Refusal('storage_unavailable', `Cannot open the database: ${reason.message}.`, {
        cause: reason,
      });
    }
  }
  return new SqlStore({
    database,
    tenant,
    writer: newWriter(),
    random: () => randomInt(1_000_000) / 1_000_000,
    wait,
    ...options,
  });
}
