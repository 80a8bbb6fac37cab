/** Why a schema was not applied. */
import type { SchemaChange } from './plan.ts';

export type SchemaRefusalCode =
  /** A newer version has been applied: this program is older than the database. */
  | 'newer_schema'
  /** This version has been applied with another schema: a changed schema needs a higher version. */
  | 'version_not_raised'
  /** Documents or history of collections that are not in `allowLoss` would be lost. */
  | 'data_loss';

/**
 * The schema was not applied, and nothing was changed. `plan` lists what would have been changed.
 * @example
 * await migrate(db, defineSchema({ collections: {} }), { version: 2 });
 * const older = defineSchema({ collections: { birds: {} } });
 * const failure = await migrate(db, older, { version: 1 }).catch((error) => error);
 * console.log(failure instanceof SchemaRefused, failure.code); // true newer_schema
 */
export class SchemaRefused extends Error {
  readonly code: SchemaRefusalCode;
  readonly plan: readonly SchemaChange[];

  constructor(code: SchemaRefusalCode, message: string, plan: readonly SchemaChange[] = []) {
    super([message, ...plan.map(({ text }) => `- ${text}`)].join('\n'));
    this.name = 'SchemaRefused';
    this.code = code;
    this.plan = plan;
  }
}
