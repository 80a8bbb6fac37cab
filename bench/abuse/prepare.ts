/** Prepares the database before the attacks: documents, a user who may read few of them, an innocent program. */
import { range } from '../../src/engine/testing/large-values.ts';

export interface Credentials {
  /** A token of a user without privileges, except for a public index and for documents that a predicate hides. */
  readonly attacker: string;
  /** A client key, which any page shows to its visitors. */
  readonly clientKey: string;
  readonly innocent: string;
  /** Server keys of another database. */
  readonly tenant: readonly string[];
}

export const DOCUMENTS = 30_000;
const BATCH = 1_500;
const TENANT_KEYS = 20;
const PASSWORD = 'correct horse battery';
export const EMAIL = 'person@example.org';

export const object = (members: Readonly<Record<string, unknown>>) => ({ object: members });
export const collection = (name: string) => ({ collection: name });
export const variable = (name: string) => ({ var: name });

/** Executes a query, with all privileges if no secret is given, and resolves to its result. */
export type Ask = (query: unknown, secret?: string) => Promise<{ readonly secret?: string }>;

export async function prepare(ask: Ask): Promise<Credentials> {
  for (const name of ['notes', 'users']) {
    await ask({ create_collection: object({ name, history_days: 0 }) });
  }
  await ask({
    create_index: object({
      name: 'notes_all',
      source: collection('notes'),
      permissions: object({ read: 'public' }),
    }),
  });
  await ask({
    create_index: object({
      name: 'users_by_email',
      source: collection('users'),
      terms: [object({ field: ['data', 'email'] })],
      unique: true,
      permissions: object({ read: 'public' }),
    }),
  });
  const one = {
    create: collection('notes'),
    params: object({ data: object({ n: variable('n') }) }),
  };
  for (let made = 0; made < DOCUMENTS; made += BATCH) {
    await ask({ foreach: { lambda: 'n', expr: one }, collection: range(BATCH) });
  }
  await ask({
    create: { ref: collection('users'), id: '1' },
    params: object({
      data: object({ email: EMAIL }),
      credentials: object({ password: PASSWORD }),
    }),
  });
  await ask({
    create: { ref: collection('notes'), id: '1' },
    params: object({ data: object({ text: 'a heron' }) }),
  });
  const mine = { equals: [{ select: ['data', 'n'], from: { get: variable('r') } }, -1] };
  await ask({
    create_role: object({
      name: 'people',
      membership: object({ resource: collection('users') }),
      privileges: object({
        resource: collection('notes'),
        actions: object({ read: { query: { lambda: 'r', expr: mine } } }),
      }),
    }),
  });
  const token = await ask({
    create: { tokens: null },
    params: object({ instance: { ref: collection('users'), id: '1' } }),
  });
  await ask({ create_database: object({ name: 'tenant' }) });
  const tenant: string[] = [];
  for (let made = 0; made < TENANT_KEYS; made++) {
    const of = object({ role: 'server', database: { database: 'tenant' } });
    tenant.push((await ask({ create_key: of })).secret ?? '');
  }
  const tenantAdmin = await ask({
    create_key: object({ role: 'admin', database: { database: 'tenant' } }),
  });
  await ask({ create_collection: object({ name: 'notes' }) }, tenantAdmin.secret);
  const clientKey = await ask({ create_key: object({ role: 'client' }) });
  const innocent = await ask({ create_key: object({ role: 'server' }) });
  return {
    attacker: token.secret ?? '',
    clientKey: clientKey.secret ?? '',
    innocent: innocent.secret ?? '',
    tenant,
  };
}
