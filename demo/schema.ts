import { q, type Client, type CollectionParams, type IndexParams } from '../src/index.ts';

/** In this order: the second names the first. */
const COLLECTIONS: Readonly<Record<string, Omit<CollectionParams, 'name'>>> = {
  users: {},
  // Everybody may read cities, and whoever is logged in may change them.
  cities: { permissions: { read: 'public', write: q.Collection('users') } },
  settings: {},
};

/** Indexes are made before the cities come in: then each city's entries are written with it. */
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
    // Before login there is no user whose role could allow it.
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

/** Makes what is missing; a second start changes nothing. Two tabs that start at once make it once. */
export async function ensureSchema(root: Client): Promise<void> {
  // A query each: what one names must be there before it.
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

/** The app's own two keys, made at the first start. Their secrets are shown once, so they are kept: in this database. */
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
