/**
 * Brings a database to a schema, in a series of transactions. Each of them continues from the stored state, and takes effect only if the
 * record of the schema is still as it was read. So several programs can migrate at once, and any of them can continue an interrupted
 * migration.
 */
import { BurrowError, UsageError, type Expr } from '../index.ts';
import type { DefinedSchema } from './define-schema.ts';
import { checkOptions, type MigrateOptions } from './migrate-options.ts';
import { nextOf } from './next-transaction.ts';
import { planOf, type SchemaChange } from './plan.ts';
import { SchemaRefused } from './refusal.ts';
import { readState, type SchemaClient, type State } from './state.ts';

/** A database of a page, of `burrowdb/testing`, or a hub by `connect()`. */
export interface SchemaTarget {
  client(): SchemaClient;
}

export interface Migration {
  /** The version that was applied before; 0 if there was none. */
  readonly from: number;
  readonly to: number;
  readonly changes: readonly SchemaChange[];
}

/** Interval between two looks at an index that is being built, ms. */
const INDEX_MS = 50;

/**
 * Creates what the schema has and the database lacks, changes what differs, runs new data steps, each once, and removes objects that an
 * earlier schema created and this schema lacks. Objects that no schema created are left alone. Needs an admin secret.
 * @throws SchemaRefused before any change, when the database has a newer schema or data would be lost
 * @throws UsageError before any change, when an option is wrong
 * @throws QueryError when a data step fails: earlier changes stay, and the next call continues with that step
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
 * Returns what `migrate()` would change.
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

/** Executes one transaction. If it met contention, or another migration was first, the caller reads the state again. */
async function attempt(client: SchemaClient, expression: Expr): Promise<void> {
  try {
    await client.query(expression);
  } catch (reason) {
    if (!(reason instanceof BurrowError) || reason.code !== 'contended transaction') throw reason;
  }
}
