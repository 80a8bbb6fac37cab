/** `burrowdb/schema`: defines the schema of a database with the types of its documents, and migrates databases to it. */
export { defineSchema } from './define-schema.ts';
export type { DefinedSchema, Definition, Schema } from './define-schema.ts';
export type { Kind, Objects, Params } from './objects.ts';
export { migrate, planMigration, type Migration, type SchemaTarget } from './migrate.ts';
export type { MigrateOptions, MigrationProgress } from './migrate-options.ts';
export type { SchemaChange } from './plan.ts';
export { SchemaRefused, type SchemaRefusalCode } from './refusal.ts';
export type { SchemaClient } from './state.ts';
export type { DataStep, EachDocument } from './steps.ts';
export type {
  CollectionDefinition,
  DocumentOf,
  FunctionDefinition,
  IndexDefinition,
  IndexRef,
  RoleDefinition,
  SchemaBuilders,
  StandardSchema,
} from './document-types.ts';
