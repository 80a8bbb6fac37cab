/**
 * Brings a database to a schema, in transactions of which each leads on from where the last has come. Each is done only where the record of
 * the schema is as it was read: several programs can migrate at once, and one that stops is followed by any other.
 */
import { BurrowError, UsageError, type Expr } from '../index.ts';
import type { DefinedSchema } from './define-schema.ts';
import { checkOptions, type MigrateOptions } from './migrate-options.ts';
import { nextOf } from './next-transaction.ts';
import { planOf, type SchemaChange } from './plan.ts';
import { SchemaRefused } from './refusal.ts';
import { readState, type SchemaClient, type State } from './state.ts';

/** A database of the page, of `burrowdb/testing`, or a hub by `connect()`. */
export interface SchemaTarget {
  client(): SchemaClient;
}

export interface Migration {
  /** What was applied before; 0: none. */
  readonly from: number;
  readonly to: number;
  readonly changes: readonly SchemaChange[];
}

/** Between two looks at an index that is being built, ms. */
const INDEX_MS = 50;

/**
 * Makes what a schema has and the database lacks, changes what differs, runs the data steps that are new, each once, and removes what an
 * earlier schema made and this one lacks. What no schema made is left alone. Needs an admin secret.
 * @throws SchemaRefused before anything is changed, when the database is ahead or data would be lost
 * @throws UsageError before anything is changed, when an option is wrong
 * @throws QueryError when a data step fails: what was done before it stays, and the next call goes on with it
 * @example
 * await migrate(db, defineSchema({ collections: { birds: {} } }), { version: 1 });
 * await client.query(q.Create('birds', { data: { name: 'heron' } }));
 */
export async function migrate(
  target: SchemaTarget,
  schema: DefinedSchema,
  options: MigrateOptions,
): Promise<Migration> {
  checkOptions(options);
  checkSchema(schema);
  const client = clientOf(target);
  let first: Pick<Migration, 'from' | 'changes'> | undefined;
  for (;;) {
    const state = await readState(client, schema.objects);
    const changes = planOf(state);
    refuse(state, changes, options);
    first ??= { from: state.record?.version ?? 0, changes };
    const next = nextOf(state, options);
    if (next === undefined) return { ...first, to: options.version };
    if (next.progress) options.onProgress?.(next.progress);
    if (next.expression) await attempt(client, next.expression);
    else await new Promise((resolve) => setTimeout(resolve, INDEX_MS));
  }
}

/**
 * What `migrate()` would change.
 * @example
 * const plan = await planMigration(db, defineSchema({ collections: { birds: {} } }));
 * console.log(plan.map(({ text }) => text).join(' '));
 */
export async function planMigration(
  target: SchemaTarget,
  schema: DefinedSchema,
): Promise<readonly SchemaChange[]> {
  checkSchema(schema);
  return planOf(await readState(clientOf(target), schema.objects));
}

/** @throws UsageError */
function checkSchema(schema: Partial<DefinedSchema> | undefined): void {
  if (!schema?.objects) throw new UsageError('The schema must be what defineSchema() returned.');
}

/** @throws UsageError */
function clientOf(target: Partial<SchemaTarget> | undefined): SchemaClient {
  if (target?.client) return target.client();
  throw new UsageError('The database must be what openDatabase() or connect() returned.');
}

function refuse(
  { record, fingerprint }: State,
  changes: readonly SchemaChange[],
  { version, allowLoss = [] }: MigrateOptions,
): void {
  const reached = Math.max(record?.version ?? 0, record?.target ?? 0);
  if (reached > version)
    throw new SchemaRefused(
      'newer_schema',
      `The database has version ${reached} of its schema, this program has version ${version}: load the newer program.`,
    );
  if (record?.version === version && record.fingerprint !== fingerprint)
    throw new SchemaRefused(
      'version_not_raised',
      `The schema differs from the one that was applied as version ${version}: give the changed one a higher version.`,
      changes,
    );
  if (changes.some(({ name, loss }) => loss !== undefined && !allowLoss.includes(name)))
    throw new SchemaRefused(
      'data_loss',
      'Applying the schema would lose data. Name the collections in `allowLoss` if that is meant. The plan:',
      changes,
    );
}

/** One that met others is looked at anew, as is one that came too late. */
async function attempt(client: SchemaClient, expression: Expr): Promise<void> {
  try {
    await client.query(expression);
  } catch (reason) {
    if (!(reason instanceof BurrowError) || reason.code !== 'contended transaction') throw reason;
  }
}
