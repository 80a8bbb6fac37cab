/** The versions of the tables: each is made from the one before, under a lock, in one transaction. */
import { Refusal } from '../../src/errors.ts';
import { SqlFailure, type SqlConnection, type Statement } from './sql-client.ts';
import { begin, commit, rollback } from './statements.ts';

/** Statements from version n to n + 1. A released migration is never changed. */
export type Migration = readonly string[];

export const MIGRATIONS: readonly Migration[] = [
  [
    `CREATE TABLE burrow_rows (
 tenant text NOT NULL, space smallint NOT NULL, key bytea NOT NULL,
 kind smallint NOT NULL, body text, bytes bytea, entries bytea NOT NULL,
 PRIMARY KEY (tenant, space, key))`,
    `CREATE TABLE burrow_entries (
 tenant text NOT NULL, space smallint NOT NULL, entry bytea NOT NULL, tail_hash bytea NOT NULL,
 key bytea NOT NULL, tail bytea NOT NULL,
 PRIMARY KEY (tenant, space, entry, tail_hash, key))`,
    `CREATE TABLE burrow_sequencers (
 tenant text NOT NULL, lane smallint NOT NULL, PRIMARY KEY (tenant, lane))`,
    `CREATE TABLE burrow_commits (
 tenant text NOT NULL, lane smallint NOT NULL, writer text NOT NULL, n bigint NOT NULL,
 at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (tenant, lane, writer))`,
  ],
];

/** Not prepared: each runs once per database. */
const once = (text: string, values: Statement['values'] = []): Statement => ({
  name: '',
  text,
  values,
});

/**
 * Brings the tables up to date; concurrent callers wait for the row of the version. Where they are, that is all it reads.
 * @throws Refusal `storage_unavailable` when a newer Burrow made them, or the database cannot hold all texts
 */
export async function migrate(
  connection: SqlConnection,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const before = await versionIn(connection);
  if (before === migrations.length) return;
  if (before === 0) await requireEncoding(connection);
  await makeVersionRow(connection);
  await connection.run([begin([])]);
  try {
    const [found] = await connection.run([
      once('SELECT version FROM burrow_schema WHERE id = 1 FOR UPDATE'),
    ]);
    const version = Number(found?.rows[0]?.[0]);
    if (version > migrations.length) throw newerSchema(version, migrations.length);
    const steps = migrations.slice(version).flat();
    for (const step of steps) await connection.run([once(step)]);
    if (steps.length > 0)
      await connection.run([
        once('UPDATE burrow_schema SET version = $1 WHERE id = 1', [migrations.length]),
      ]);
    await connection.run([commit([])]);
  } catch (reason) {
    await connection.run([rollback([])]).catch(() => undefined);
    throw reason;
  }
}

const UNDEFINED_TABLE = '42P01';

/**
 * For who only reads, maybe from a standby.
 * @throws Refusal `storage_unavailable` when a hub has not yet made the tables of this version
 */
export async function requireMigrated(connection: SqlConnection): Promise<void> {
  const version = await versionIn(connection);
  if (version > MIGRATIONS.length) throw newerSchema(version, MIGRATIONS.length);
  if (version < MIGRATIONS.length)
    throw new Refusal(
      'storage_unavailable',
      version === 0
        ? 'The database holds no data of a hub.'
        : `The database has tables of version ${version}, and this version of Burrow reads version ${MIGRATIONS.length}: start a hub of this version on it once.`,
    );
}

/** 0: there are no tables. */
async function versionIn(connection: SqlConnection): Promise<number> {
  try {
    const [found] = await connection.run([once('SELECT version FROM burrow_schema WHERE id = 1')]);
    return Number(found?.rows[0]?.[0] ?? 0);
  } catch (reason) {
    if (reason instanceof SqlFailure && reason.code === UNDEFINED_TABLE) return 0;
    throw reason;
  }
}

/** SQL_ASCII is accepted: it stores the bytes of UTF-8 as they are. @throws Refusal `storage_unavailable` */
async function requireEncoding(connection: SqlConnection): Promise<void> {
  const [shown] = await connection.run([once('SHOW server_encoding')]);
  const encoding = String(shown?.rows[0]?.[0]);
  if (/^(UTF|SQL_ASCII)/.test(encoding)) return;
  throw new Refusal(
    'storage_unavailable',
    `The database has the encoding ${encoding}, which cannot store all text: create one with ENCODING 'UTF8' TEMPLATE template0.`,
  );
}

/** Codes that one of two processes gets when both create a table at the same time. */
const CREATED_MEANWHILE = new Set(['42P07', '42710', '23505', '40001', 'XX000']);

async function makeVersionRow(connection: SqlConnection): Promise<void> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      await connection.run([
        once('CREATE TABLE IF NOT EXISTS burrow_schema (id smallint PRIMARY KEY, version integer)'),
      ]);
      break;
    } catch (reason) {
      const isRace = reason instanceof SqlFailure && CREATED_MEANWHILE.has(reason.code ?? '');
      if (!isRace || attempts >= 5) throw reason;
    }
  }
  await connection.run([
    once('INSERT INTO burrow_schema (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING'),
  ]);
}

const newerSchema = (found: number, known: number): Refusal =>
  new Refusal(
    'storage_unavailable',
    `The database has tables of version ${found}, and this version of Burrow knows versions up to ${known}: install a newer Burrow, or use another database.`,
  );
