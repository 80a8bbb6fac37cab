/** Users, notes, and keys with roles, for tests of permissions. */
import {
  EngineWorld,
  coll,
  create,
  doc,
  obj,
  type QueryOptions,
  type Query,
} from './engine-world.ts';

export const DENIED = { code: 'permission denied', status: 403 };

export const on = (pattern: string | readonly string[], expr: Query): Query => ({
  query: { lambda: pattern, expr },
});
export const v = (name: string): Query => ({ var: name });
export const at = (path: readonly (string | number)[], from: Query): Query => ({
  select: path,
  from,
  default: null,
});
export const both = (...tests: readonly Query[]): Query => ({ and: tests });
export const equal = (...values: readonly Query[]): Query => ({ equals: values });
export const data = (fields: Record<string, unknown>): Query => obj({ data: obj(fields) });

export const privilege = (resource: Query, actions: Record<string, unknown>): Query =>
  obj({ resource, actions: obj(actions) });

/** A world with notes, and users who can log in. */
export async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'users' }) });
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  for (const id of [1, 2]) {
    const login = { credentials: obj({ password: 'p' }) };
    await w.ask(create(doc('users', id), { team: id === 1 ? 'red' : 'blue' }, login));
  }
  for (const id of [1, 2, 3]) await w.ask(create(doc('notes', id), { n: id }));
  return w;
}

let roles = 0;
/** A key with a role that has these privileges. */
export async function keyWith(
  w: EngineWorld,
  ...privileges: readonly Query[]
): Promise<QueryOptions> {
  const name = `role-${roles++}`;
  await w.ask({ create_role: obj({ name, privileges }) });
  return w.document({ create_key: obj({ role: name }) });
}

export const login = (w: EngineWorld, id: number): Promise<QueryOptions> =>
  w.document({ login: doc('users', id), params: obj({ password: 'p' }) });

export const notes = coll('notes');
export const all = { paginate: { documents: notes } };
export const ids = (refs: readonly unknown[]): readonly string[] =>
  refs.map((ref) => (ref as { '@ref': { id: string } })['@ref'].id);
