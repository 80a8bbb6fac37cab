/** `burrowdb/tanstack`: Burrow as the storage of TanStack DB collections. */
import type { CollectionConfig, PendingMutation } from '@tanstack/db';
import {
  q,
  UsageError,
  type Client,
  type CollectionRef,
  type Expr,
  type Page,
  type Ref,
  type StoredDocument,
  type WriteData,
} from '../index.ts';
import { requireKnown } from './core/require-known.ts';
import { changesBetween } from './tanstack/changes.ts';
import { LiveRows, type BurrowItem } from './tanstack/live-rows.ts';
import { write } from './tanstack/write.ts';

export type { BurrowItem } from './tanstack/live-rows.ts';
export { newId } from './tanstack/new-id.ts';

/** A change of one item that is written to the database. */
export interface BurrowChange<T> {
  readonly type: 'insert' | 'update' | 'delete';
  /** The item after the change; for a delete, the item as it was. */
  readonly item: BurrowItem<T>;
}

export interface BurrowCollectionOptions<T> {
  /** Client of the user; for a copy of a hub's database, `sync.client`. */
  readonly client: Client;
  /** The database collection in which items are created, updated and deleted. */
  readonly collection: Expr<CollectionRef<T>>;
  /** The documents that are shown: an array of them, or a page that holds all of them. By default, all documents of `collection`. */
  readonly query?: Expr<readonly StoredDocument<T>[]> | Expr<Page<StoredDocument<T>>>;
  /** What a write does, in words for the user. It is stored with each write to a copy, for lists of writes. */
  readonly label?: (changes: readonly BurrowChange<T>[]) => string;
  /** Stored with each write as well: anything that can be encoded as JSON. */
  readonly data?: (changes: readonly BurrowChange<T>[]) => WriteData;
}

const OPTIONS = [
  'client',
  'collection',
  'query',
  'label',
  'data',
] satisfies (keyof BurrowCollectionOptions<object>)[];
/** The largest number of documents that a page can hold. */
const PAGE_SIZE = 100_000;

/**
 * Options for `createCollection` of `@tanstack/db`. The items are the documents of a live query. Inserts, updates and deletes are written
 * to the database; those of one transaction are one query.
 * @throws UsageError when an option is wrong, or there is no client
 * @example
 * const collection = createCollection(
 *   burrowCollectionOptions<{ title: string }>({ client, collection: notes }),
 * );
 * collection.insert({ id: newId(), title: 'a heron' });
 */
export function burrowCollectionOptions<T extends object>(
  options: BurrowCollectionOptions<T>,
): BurrowCollectionConfig<T> {
  requireKnown(options, OPTIONS);
  const { client, collection, query = allOf(collection), label, data } = options;
  // Before a login, the client is undefined.
  if (typeof (client as Partial<Client> | undefined)?.subscribe !== 'function')
    throw new UsageError('The option `client` must be a client: `db.client()`, or `sync.client`.');
  for (const [name, made] of Object.entries({ label, data }))
    if (made && typeof made !== 'function')
      throw new UsageError(`The option \`${name}\` must be a function of the changes.`);
  const rows = new LiveRows<T>(client, query);
  const save = async (mutations: readonly Mutation<T>[]): Promise<void> => {
    const changes = mutations.map(({ type, modified }) => ({ type, item: modified }));
    const [first = null, ...others] = mutations.map((each) => writeOf(collection, each));
    await write(client, q.Do(first, ...others), {
      ...(label && { label: label(changes) }),
      ...(data && { data: data(changes) }),
    });
    // When this promise resolves, TanStack DB drops its optimistic state of the items, so the rows must be up to date by then.
    await rows.whenCurrent();
  };
  return {
    getKey: ({ id }) => id,
    sync: { sync: rows.start, rowUpdateMode: 'full' },
    onInsert: ({ transaction }) => save(transaction.mutations),
    onUpdate: ({ transaction }) => save(transaction.mutations),
    onDelete: ({ transaction }) => save(transaction.mutations),
  };
}

/** The result is what `createCollection` takes: a collection with strings as keys, and without a schema. */
export interface BurrowCollectionConfig<T extends object> extends CollectionConfig<
  BurrowItem<T>,
  string
> {
  schema?: never;
  singleResult?: never;
}

type Mutation<T extends object> = Pick<
  PendingMutation<BurrowItem<T>>,
  'type' | 'modified' | 'original'
>;

function allOf<T>(collection: Expr<CollectionRef<T>>): Expr<Page<StoredDocument<T>>> {
  const refs = q.Paginate(q.Documents(collection), { size: PAGE_SIZE });
  return q.Map(refs, (ref) => q.Get(ref)) as Expr<Page<StoredDocument<T>>>;
}

/** Makes the query of one change. TanStack DB checks the types of items. */
function writeOf<T extends object>(
  collection: Expr<Ref>,
  { type, modified, original }: Mutation<T>,
): Expr {
  const { id, ...data } = modified;
  const ref: Expr<Ref> = q.Ref(collection, id);
  if (type === 'insert') return q.Create(ref, { data });
  if (type === 'delete') return q.Delete(ref);
  const { id: _, ...before } = original as BurrowItem<T>;
  return q.Update(ref, { data: changesBetween(before, data) });
}
