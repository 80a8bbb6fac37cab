/**
 * What a PostgreSQL server does beside its work, in processes of its own, and PGlite never: checkpoints, after which files of its log
 * can go, and vacuuming, after which the room of rows that were removed or replaced is used again. Without it a folder grows by all
 * that was ever written, and after a kill all of that is read before the database opens.
 */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from '../../hosts/after.ts';
import type { SqlConnection, SqlDatabase, Statement } from '../sql/sql-client.ts';

const EVERY_MS = 15_000;
const LOG_BYTES = 64 * 1024 * 1024;

/** Bytes of the log that the next start would read. */
const LOG = statement(
  'log',
  'SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) FROM pg_control_checkpoint()',
);
const CHECKPOINT = statement('checkpoint', 'CHECKPOINT');
/** Bytes of each table; and whether it has so many rows to vacuum as autovacuum waits for. */
const TABLES = statement(
  'tables',
  "SELECT t.relname, pg_total_relation_size(relid), n_dead_tup > 50 + greatest(reltuples, 0) / 5 FROM pg_stat_user_tables t JOIN pg_class c ON c.oid = relid WHERE t.relname LIKE 'burrow%'",
);

function statement(name: string, text: string): Statement {
  return { name: `burrow_upkeep_${name}`, text, values: [] };
}

export interface UpkeepOptions {
  readonly database: SqlDatabase;
  /** Undefined: in memory. */
  readonly folder: string | undefined;
  /** For so many bytes of the log, beside what is kept free. Vacuuming logs what it changes: at most the size of the table. */
  readonly hasRoom: (bytes: number) => boolean;
}

export class PgliteUpkeep {
  private readonly options: UpkeepOptions;
  /** Counts of removed rows are lost with the process: all tables are vacuumed once, which takes no time where nothing is to do. */
  private readonly vacuumed = new Set<string>();

  constructor(options: UpkeepOptions) {
    this.options = options;
  }

  /** @throws SqlFailure */
  async work(): Promise<void> {
    await this.checkpoint();
    const tables = await this.run(TABLES);
    for (const [name, bytes, isDue] of tables) {
      const isVacuumed = this.vacuumed.has(String(name));
      if ((isVacuumed && isDue !== 't') || !this.options.hasRoom(Number(bytes))) continue;
      await this.run(statement(`vacuum_${name}`, `VACUUM ${name}`));
      this.vacuumed.add(String(name));
      await this.checkpoint();
    }
  }

  private async checkpoint(): Promise<void> {
    const [row] = await this.run(LOG);
    // What cannot be logged ends the database, and reads with it: a checkpoint is logged, too.
    if (Number(row?.[0]) < LOG_BYTES || !this.options.hasRoom(0)) return;
    await this.run(CHECKPOINT);
    // PGlite waits for no disk. The log of what it has just written is gone, so that a loss of power would cost more than the last writes.
    if (this.options.folder !== undefined) await syncFiles(this.options.folder);
  }

  private async run(wanted: Statement): Promise<readonly (readonly (string | null)[])[]> {
    const connection: SqlConnection = await this.options.database.connect();
    try {
      const [result] = await connection.run([wanted]);
      return result?.rows ?? [];
    } finally {
      connection.release();
    }
  }
}

/** Returns the way to stop, which waits for what is under way. */
export function startUpkeep(
  options: UpkeepOptions & { readonly report: (reason: unknown) => void },
): () => Promise<void> {
  const upkeep = new PgliteUpkeep(options);
  let isStopped = false;
  let working = Promise.resolve();
  let cancel: () => void;
  const plan = (): void => {
    cancel = after(EVERY_MS, () => {
      working = upkeep
        .work()
        .catch((reason: unknown) => {
          if (!isStopped) options.report(reason);
        })
        .then(() => {
          if (!isStopped) plan();
        });
    });
  };
  plan();
  return () => {
    isStopped = true;
    cancel();
    return working;
  };
}

async function syncFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // Files of the log come and go.
    const file = await open(join(entry.parentPath, entry.name), 'r+').catch(() => undefined);
    try {
      await file?.sync();
    } finally {
      await file?.close();
    }
  }
}
