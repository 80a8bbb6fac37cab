import {
  q,
  type Arg,
  type Client,
  type StoredDocument,
  type Expr,
  type Page,
  type Ref,
} from '../../src/index.ts';
import type { City } from '../import/city-files.ts';

/** A city and the user who changed it last. */
export interface StoredCity extends City {
  readonly editedBy?: Ref;
}

export type CityDocument = StoredDocument<StoredCity>;

export type Order = 'name' | 'population';

/** Start of a page: a cursor from an earlier page, or one that this file makes. */
export type Place = { readonly after: Arg } | { readonly before: Arg } | Record<string, never>;

export const FIRST_PAGE: Place = {};
/** Cursors behind the last entry: null sorts last in ascending order, the smallest number in descending order. */
export const LAST_PAGE: Readonly<Record<Order, Place>> = {
  name: { before: null },
  population: { before: Number.MIN_SAFE_INTEGER },
};
/** A page from the first entry that starts with `value` or sorts after it: a cursor may be a prefix of an entry. */
export const startingAt = (value: string | number): Place => ({ after: [value] });

export const PAGE_SIZE = 20;

const INDEX: Readonly<Record<Order, string>> = {
  name: 'cities_by_country',
  population: 'cities_by_country_population',
};

/** A page of the cities of a country, as whole documents. */
export function pageOfCities(
  country: string,
  order: Order,
  place: Place,
): Expr<Page<CityDocument>> {
  const set = q.Match<[string | number, Ref]>(q.Index(INDEX[order]), country);
  const page = q.Paginate(set, { size: PAGE_SIZE, ...place });
  return q.Map(page, q.Lambda(['value', 'ref'], q.Get(q.Var('ref'))));
}

export const cityRef = (id: string): Expr<Ref> => q.Ref(q.Collection('cities'), id);

/** The fields that users of the app can change. */
export interface CityChanges {
  readonly name: string;
  readonly altName: string;
  readonly population: number;
}

const CHANGED_MEANWHILE = 'changed meanwhile';

/**
 * Changes a city as the logged-in user, only if the city is still the version that the user saw. Otherwise the query aborts, so that the
 * change does not silently overwrite another one.
 */
export const updateCity = (client: Client, id: string, seen: number, changes: CityChanges) =>
  client.query<CityDocument>(
    q.If(
      q.Equals(q.Select('ts', q.Get(cityRef(id))), seen),
      q.Update(cityRef(id), { data: { ...changes, editedBy: q.CurrentIdentity() } }),
      q.Abort(CHANGED_MEANWHILE),
    ),
  );

export const isChangedMeanwhile = (error: unknown): boolean =>
  error instanceof Error && error.message.endsWith(CHANGED_MEANWHILE);

export interface CityEvent {
  readonly ts: number;
  readonly action: 'create' | 'update' | 'delete';
  readonly data: Partial<StoredCity> | null;
}

/** All versions of a city, as events. */
export const cityEvents = (id: string): Expr<Page<CityEvent>> =>
  q.Paginate<CityEvent>(cityRef(id), { events: true, size: 1000 });

/** The e-mail addresses of users, by id. */
export async function namesOfUsers(
  server: Client,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const emails = await server.query<string[]>(
    ids.map((id) =>
      q.Let({ user: q.Ref(q.Collection('users'), id) }, (user) =>
        q.If(q.Exists(user), q.Select(['data', 'email'], q.Get(user)), 'a deleted user'),
      ),
    ),
  );
  return new Map(ids.map((id, at) => [id, emails[at] ?? id]));
}
