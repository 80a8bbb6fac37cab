/**
 * Maintenance that a PostgreSQL server does in background processes, which PGlite does not have: checkpoints, after which old
 * files of its log (WAL) can be removed, and VACUUM, after which the space of removed and replaced rows is reused. Without it, a
 * folder would grow with every write, and after a kill the whole log would be replayed before the database opens.
 */
import { after } from '../../hosts/after.ts';
import type { SqlConnection, SqlDatabase, Statement } from '../sql/sql-client.ts';

const EVERY_MS = 15_000;
const LOG_BYTES = 64 * 1024 * 1024;
const LONG_MS = 1000;

/** Bytes of the log that the next start would replay. */
const LOG = statement(
  'log',
  'SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) FROM pg_control_checkpoint()',
);
const CHECKPOINT = statement('checkpoint', 'CHECKPOINT');
/** The size of each table in bytes, and whether it has as many dead rows as make autovacuum run on a server. */
const TABLES = statement(
  'tables',
  "SELECT t.relname, pg_total_relation_size(relid), n_dead_tup > 50 + greatest(reltuples, 0) / 5 FROM pg_stat_user_tables t JOIN pg_class c ON c.oid = relid WHERE t.relname LIKE 'burrow%'",
);

function statement(name: string, text: string): Statement {
  return { name: `burrow_upkeep_${name}`, text, values: [] };
}

export interface UpkeepOptions {
  readonly database: SqlDatabase;
  /**
   * Whether the disk has room for this many more bytes of the log, in addition to what is kept free. VACUUM logs its changes: at
   * most the size of the table.
   */
  readonly hasRoom: (bytes: number) => boolean;
  /** Tells the operator about statements that blocked all queries for a second or more. */
  readonly say: (sentence: string) => void;
}

export class PgliteUpkeep {
  private readonly options: UpkeepOptions;
  /**
   * Tables vacuumed since the process started. The counts of dead rows are lost with a process, so each table is vacuumed once;
   * that is quick if there is nothing to do.
   */
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
    // A checkpoint writes to the log too, and if the log cannot be written, the database ends and reads fail as well.
    if (Number(row?.[0]) < LOG_BYTES || !this.options.hasRoom(0)) return;
    await this.run(CHECKPOINT);
  }

  private async run(wanted: Statement): Promise<readonly (readonly (string | null)[])[]> {
    const connection: SqlConnection = await this.options.database.connect();
    const begunMs = performance.now();
    try {
      const [result] = await connection.run([wanted]);
      return result?.rows ?? [];
    } finally {
      connection.release();
      const tookMs = performance.now() - begunMs;
      if (tookMs > LONG_MS)
        this.options.say(
          `Maintenance blocked all queries for ${Math.round(tookMs)} ms: ${wanted.text}.`,
        );
    }
  }
}

/** @returns a function that stops the maintenance and waits for work in progress */
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
