/** The collections, indexes and functions of the database, in the form that the panels need. */
import { q, type Client } from '../src/index.ts';
import { OWN } from './ask.ts';

export type FieldPath = readonly (string | number)[];

export interface IndexInfo {
  readonly name: string;
  /** Names of collections; `*` stands for all collections. */
  readonly sources: readonly string[];
  readonly terms: readonly IndexField[];
  readonly values: readonly (IndexField & { readonly reverse: boolean })[];
  readonly isUnique: boolean;
  /** False while the index is being built. */
  readonly isActive: boolean;
}

/** A field, or the name of a binding. */
export interface IndexField {
  readonly field: FieldPath | undefined;
  readonly binding: string | undefined;
  /** For example `casefold`: index entries then differ from the values in documents. */
  readonly transform?: string | undefined;
}

export interface SchemaInfo {
  readonly collections: readonly string[];
  readonly indexes: readonly IndexInfo[];
  readonly functions: readonly string[];
}

export const NO_SCHEMA: SchemaInfo = { collections: [], indexes: [], functions: [] };

const SCHEMA_MAX = 10_000;

export async function readSchema(client: Client): Promise<SchemaInfo> {
  const names = (set: ReturnType<typeof q.Collections>) =>
    q.Select(
      'data',
      q.Map(q.Paginate(set, { size: SCHEMA_MAX }), (ref) => q.Select('id', ref)),
    );
  const found = await client.query<{
    readonly collections: readonly string[];
    readonly functions: readonly string[];
    readonly indexes: readonly StoredIndex[];
  }>(
    {
      collections: names(q.Collections()),
      functions: names(q.Functions()),
      indexes: q.Select(
        'data',
        q.Map(q.Paginate(q.Indexes(), { size: SCHEMA_MAX }), (ref) => q.Get(ref)),
      ),
    },
    OWN,
  );
  return { ...found, indexes: found.indexes.map(indexOf) };
}

interface StoredField {
  readonly field?: string | FieldPath;
  readonly binding?: string;
  readonly transform?: string;
  readonly reverse?: boolean;
}

/** Values as they were passed when the index was created. */
type OneOrMany<T> = T | readonly T[];

interface StoredIndex {
  readonly name: string;
  readonly source: unknown;
  readonly terms?: OneOrMany<StoredField> | null;
  readonly values?: OneOrMany<StoredField> | null;
  readonly unique?: boolean;
  readonly active?: boolean;
}

const indexOf = ({ name, source, terms, values, unique, active }: StoredIndex): IndexInfo => ({
  name,
  sources: (Array.isArray(source) ? source : [source]).map(sourceName),
  terms: listOf(terms).map(fieldOf),
  values: listOf(values).map((each) => ({ ...fieldOf(each), reverse: each.reverse === true })),
  isUnique: unique === true,
  isActive: active !== false,
});

const listOf = (fields: OneOrMany<StoredField> | null = []): readonly StoredField[] =>
  [fields ?? []].flat();

const fieldOf = ({ field, binding, transform }: StoredField): IndexField => ({
  field: typeof field === 'string' ? [field] : field,
  binding,
  ...(transform !== undefined && { transform }),
});

/** Name of the collection in a ref, or in an object with a ref and bindings. */
function sourceName(source: unknown): string {
  const ref = member(source, 'collection');
  const own = member(source, 'id');
  const id = typeof own === 'string' ? own : member(ref, 'id');
  return typeof id === 'string' ? id : '*';
}

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

/** Top-level fields of documents; `class` is the old name of their collection. */
const FIRST_STEPS: readonly unknown[] = ['data', 'ref', 'class', 'ts', 'ttl'];

export function fieldText({ field, binding }: IndexField): string {
  if (!field) return `${binding ?? ''} (binding)`;
  if (FIRST_STEPS.includes(field[0])) return field.join('.');
  return `${JSON.stringify(field)} (finds nothing: a path is ["data", …])`;
}
