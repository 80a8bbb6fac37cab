import { q, UsageError, type Expr, type StoredDocument } from '../index.ts';
import type {
  CollectionDefinition,
  Collections,
  DocumentOf,
  FunctionDefinition,
  Functions,
  IndexDefinition,
  NameIn,
  RoleDefinition,
  SchemaBuilders,
} from './document-types.ts';
import { membersOf } from './normal-form.ts';
import type { Kind, Objects, Params } from './objects.ts';
import { requireArray, requireKnown, requireObject, wrongValue } from './require-known.ts';
import type { EachDocument } from './steps.ts';
import { misspeltOption } from '../values/wrong-options.ts';

/** The part of a schema that `migrate()` needs. */
export interface DefinedSchema {
  /** The parameters of each object, by kind and name. */
  readonly objects: Objects;
}

declare const none: unique symbol;
/** The type of a missing part: it has no names. */
type None = { readonly [none]?: never };

export interface Definition<C, I, F> {
  readonly collections: C;
  readonly indexes?: I;
  readonly functions?: F;
  readonly roles?: Readonly<Record<string, RoleDefinition<C, I, F>>>;
}

/**
 * A schema, returned by `defineSchema()`.
 * @example
 * const schema = defineSchema({ collections: { birds: {} } });
 * await migrate(db, schema, { version: 1 });
 * const { Collection, Create } = schema.q;
 * const heron = await client.query(Create(Collection('birds'), { data: { name: 'heron' } }));
 * console.log(heron.data); // { name: 'heron' }
 */
export class Schema<C, I> implements DefinedSchema {
  /** The builders, with the names of the schema and the types of its documents. */
  readonly q: SchemaBuilders<C, I>;
  readonly objects: Objects;

  /** @internal */
  constructor(objects: Objects) {
    this.objects = objects;
    // The functions are the same; only their types differ.
    this.q = q as unknown as SchemaBuilders<C, I>;
  }

  /**
   * A data step that writes each document that a collection has when the step begins, in transactions of `size` documents each.
   * @param write returns an expression that writes, for a document
   */
  each<Name extends NameIn<C>>(
    collection: Name,
    write: (document: Expr<StoredDocument<DocumentOf<C[Name]>>>) => unknown,
    options: { readonly size?: number } = {},
  ): EachDocument {
    requireKnown(options, ['size']);
    const { size = 100 } = options;
    if (!Number.isSafeInteger(size) || size < 1)
      throw new UsageError(
        `The option \`size\` must be a whole number from 1, but is ${String(size)}.`,
      );
    return { collection, write, size };
  }
}

/**
 * Defines what a database contains, for `migrate()`, and the types of its documents, for `schema.q`.
 * @throws UsageError when a part of the definition or a member of a role is unknown, or another member is nearly spelt like a known one
 * @example
 * const schema = defineSchema({ collections: { birds: {} } });
 * await migrate(db, schema, { version: 1 });
 * console.log(await client.query(q.Exists(q.Collection('birds')))); // true
 */
export function defineSchema<
  const C extends Collections,
  const I extends Readonly<Record<string, IndexDefinition<NameIn<C>>>> = None,
  const F extends Functions = None,
>(definition: Definition<C, I, F>): Schema<C, I> {
  requireKnown(definition, PARTS);
  const { collections, indexes, functions, roles } = definition;
  return new Schema({
    collections: mapped<CollectionDefinition>('collections', collections, withoutType),
    indexes: mapped<IndexDefinition>('indexes', indexes, (index) => ({
      ...index,
      source: sourceOf(index.source),
    })),
    functions: mapped<FunctionDefinition>('functions', functions, (each) => ({ ...each })),
    roles: mapped<RoleDefinition<C, I, F>>('roles', roles, roleParams),
  });
}

const PARTS = ['collections', 'indexes', 'functions', 'roles'] satisfies (keyof Definition<
  unknown,
  unknown,
  unknown
>)[];
const OF_PRIVILEGES = ['collections', 'indexes', 'functions', 'others'];

/**
 * The parameters of the objects. A member whose name nearly equals a known one is refused, as when the object is created; other unknown
 * members are dropped then, as in the original.
 */
const mapped = <T extends object>(
  kind: Kind,
  definitions: Readonly<Record<string, T>> | undefined,
  params: (definition: T, path: string) => Params,
): ReadonlyMap<string, Params> =>
  new Map(
    entriesOf<T>(definitions, kind).map(([name, each]) => {
      const path = `${kind}.${name}`;
      requireObject(each, path);
      const wrong = misspeltOption(each, membersOf(kind));
      if (wrong !== undefined) throw new UsageError(wrong);
      return [name, params(each, path)];
    }),
  );

/** The entries of an object; none if it is left out. @param path path of the object @throws UsageError */
function entriesOf<T>(
  object: Readonly<Record<string, T>> | undefined,
  path: string,
): readonly [name: string, value: T][] {
  if (object === undefined) return [];
  requireObject(object, path);
  return Object.entries(object);
}

const withoutType = (definition: CollectionDefinition): Params =>
  Object.fromEntries(Object.entries(definition).filter(([member]) => member !== 'type'));

const sourceOf = (source: unknown): unknown =>
  Array.isArray(source)
    ? source.map(sourceOf)
    : typeof source === 'string' && source !== '_'
      ? q.Collection(source)
      : source;

function roleParams<C, I, F>(role: RoleDefinition<C, I, F>, path: string): Params {
  requireKnown(role, membersOf('roles'));
  const { membership, privileges = {}, data } = role;
  const inside = `${path}.privileges`;
  requireObject(privileges, inside);
  requireKnown(privileges, OF_PRIVILEGES);
  const { collections, indexes, functions, others = [] } = privileges;
  requireArray(others, `${inside}.others`);
  for (const [at, each] of others.entries()) requireObject(each, `${inside}.others.${at}`);
  return {
    privileges: [
      ...privilegesOf(collections, q.Collection, `${inside}.collections`),
      ...privilegesOf(indexes, q.Index, `${inside}.indexes`),
      ...privilegesOf(functions, q.Function, `${inside}.functions`),
      ...others,
    ],
    membership: membershipOf(membership, `${path}.membership`),
    ...(data !== undefined && { data }),
  };
}

/** Any other value is refused: it must not make every document a member. */
const membershipOf = (
  byName: Readonly<Record<string, unknown>> | undefined,
  path: string,
): readonly Params[] =>
  entriesOf(byName, path).map(([name, predicate]) => {
    if (predicate !== true && !isPredicate(predicate))
      throw wrongValue(`${path}.${name}`, 'true or a function', predicate);
    return {
      resource: q.Collection(name),
      ...(isPredicate(predicate) && { predicate: q.Query(predicate) }),
    };
  });

const privilegesOf = (
  byName: Readonly<Record<string, object | undefined>> | undefined,
  resource: (name: string) => Expr,
  path: string,
): readonly Params[] =>
  entriesOf(byName, path).map(([name, actions]) => ({
    resource: resource(name),
    actions: Object.fromEntries(
      entriesOf<unknown>(actions as Params | undefined, `${path}.${name}`).map(
        ([action, allowed]) => [action, isPredicate(allowed) ? q.Query(allowed) : allowed],
      ),
    ),
  }));

const isPredicate = (value: unknown): value is (...variables: Expr<never>[]) => unknown =>
  typeof value === 'function';
