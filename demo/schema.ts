import { q, type Client, type CollectionParams, type IndexParams } from '../src/index.ts';

/** The order matters: `cities` refers to `users`. */
const COLLECTIONS: Readonly<Record<string, Omit<CollectionParams, 'name'>>> = {
  users: {},
  // Anyone may read cities. Any logged-in user may change them.
  cities: { permissions: { read: 'public', write: q.Collection('users') } },
  settings: {},
};

/** The indexes are created before the import, so that each city's index entries are written together with the city. */
const INDEXES: Readonly<Record<string, Omit<IndexParams, 'name'>>> = {
  cities_by_country: {
    source: q.Collection('cities'),
    terms: [{ field: ['data', 'country'] }],
    values: [{ field: ['data', 'name'] }, { field: ['ref'] }],
    permissions: { read: 'public' },
  },
  cities_by_country_population: {
    source: q.Collection('cities'),
    terms: [{ field: ['data', 'country'] }],
    values: [{ field: ['data', 'population'], reverse: true }, { field: ['ref'] }],
    permissions: { read: 'public' },
  },
  cities_by_id: {
    source: q.Collection('cities'),
    terms: [{ field: ['data', 'cityId'] }],
    unique: true,
    permissions: { read: 'public' },
  },
  users_by_email: {
    source: q.Collection('users'),
    terms: [{ field: ['data', 'email'] }],
    unique: true,
    // At login there is no user yet whose role could grant access.
    permissions: { read: 'public' },
  },
  logins: {
    source: q.Tokens(),
    terms: [{ field: ['instance'] }],
    values: [{ field: ['data', 'name'] }],
    permissions: { read: q.Collection('users') },
  },
};

const keys = q.Ref(q.Collection('settings'), '1');

export interface KeySecrets {
  readonly server: string;
  readonly client: string;
}

/** Creates missing collections and indexes; a later start changes nothing. If two tabs start at once, each object is created once. */
export async function ensureSchema(root: Client): Promise<void> {
  // One query per collection: a collection must exist before another one can refer to it.
  for (const [name, params] of Object.entries(COLLECTIONS)) {
    await root.query(
      q.If(q.Exists(q.Collection(name)), null, q.CreateCollection({ name, ...params })),
    );
  }
  await root.query(
    q.Do(
      null,
      ...Object.entries(INDEXES).map(([name, params]) =>
        q.If(q.Exists(q.Index(name)), null, q.CreateIndex({ name, ...params })),
      ),
    ),
  );
}

/**
 * The app's two keys, created at the first start. A secret is returned only when its key is created, so both are stored in this database.
 */
export function ensureKeys(root: Client): Promise<KeySecrets> {
  const makeKey = (role: string) =>
    q.Select('secret', q.CreateKey({ role, data: { name: `demo, ${role}` } }));
  return root.query<KeySecrets>(
    q.Select(
      'data',
      q.If(
        q.Exists(keys),
        q.Get(keys),
        q.Create(keys, { data: { server: makeKey('server'), client: makeKey('client') } }),
      ),
    ),
  );
}
