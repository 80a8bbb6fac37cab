/** A store on a database whose tables are brought up to date first. */
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal } from '../../src/errors.ts';
import { migrate } from '../sql/migrations.ts';
import { SqlFailure, type SqlDatabase } from '../sql/sql-client.ts';
import { SqlStore, type SqlStoreOptions } from './sql-store.ts';
import { makeSequencers } from '../sql/statements.ts';

/** A name that no other store has had. */
export const newWriter = (): string => randomBytes(12).toString('hex');

const TRIES_MAX = 3;

/** @throws Refusal `storage_unavailable`; the database stays open, and the caller's to close */
export async function openTables(
  database: SqlDatabase,
  tenant: string,
  options: Partial<Pick<SqlStoreOptions, 'writer' | 'watched' | 'random'>> = {},
): Promise<SqlStore> {
  for (let tries = 1; ; tries += 1) {
    let isConnected = false;
    try {
      const connection = await database.connect();
      isConnected = true;
      try {
        await migrate(connection);
        await connection.run([makeSequencers(tenant)]);
        break;
      } finally {
        connection.release();
      }
    } catch (reason) {
      if (!(reason instanceof SqlFailure)) throw reason;
      // Where nobody answers, the address is wrong; a connection that was lost is made again.
      if (isConnected && reason.mayTryAgain && tries < TRIES_MAX) continue;
      throw new Refusal(
        'storage_unavailable',
        `The database could not be opened: ${reason.message}.`,
        { cause: reason },
      );
    }
  }
  return new SqlStore({
    database,
    tenant,
    writer: newWriter(),
    random: () => randomInt(1_000_000) / 1_000_000,
    wait: (ms) => wait(ms),
    ...options,
  });
}
