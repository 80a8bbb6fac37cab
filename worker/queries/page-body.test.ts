/** Details that a client of the page receives in addition to what an HTTP response says. */
import { expect, test } from 'vitest';
import {
  coll,
  create,
  doc,
  EngineWorld,
  obj,
  type Query,
} from '../../src/engine/testing/engine-world.ts';
import { pageBody } from './page-body.ts';

async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'users' }) });
  await w.ask({
    create_index: obj({
      name: 'users_by_email',
      source: coll('users'),
      unique: true,
      terms: [obj({ field: ['data', 'email'] })],
    }),
  });
  await w.ask(create(doc('users', 1), { email: 'ann@example.org' }));
  const body = { query: { lambda: 'x', expr: { create: coll('users'), params: { var: 'x' } } } };
  await w.ask({ create_function: obj({ name: 'sign_up', body }) });
  return w;
}

const received = async (w: EngineWorld, query: Query, secret?: string): Promise<string> => {
  const answer = await w.answer(query, secret === undefined ? {} : { secret });
  const { errors } = JSON.parse(pageBody(answer, secret)) as {
    errors: { description: string }[];
  };
  return errors[0]?.description ?? '';
};

const double = { data: obj({ email: 'ann@example.org' }) };

test.each<[string, Query, string, string]>([
  [
    'index and fields that are not unique',
    { create: coll('users'), params: obj(double) },
    'document is not unique.',
    'document is not unique. Another document has the same data.email, and index users_by_email is unique.',
  ],
  [
    'the credentials that a user has already',
    {
      do: [
        {
          create: { credentials: null },
          params: obj({ instance: doc('users', 1), password: 'a' }),
        },
        {
          create: { credentials: null },
          params: obj({ instance: doc('users', 1), password: 'b' }),
        },
      ],
    },
    'document is not unique.',
    'document is not unique. The user has credentials already: change those.',
  ],
  [
    'the missing document',
    { get: doc('users', 2) },
    'Document not found.',
    'Document not found. users/2',
  ],
  [
    'the missing token',
    { get: { ref: { tokens: null }, id: '7' } },
    'Token not found.',
    'Token not found. tokens/7',
  ],
  [
    'the index in which nothing is found',
    { get: { match: { index: 'users_by_email' }, terms: 'bob@example.org' } },
    'Set not found.',
    'Set not found. Index users_by_email has none.',
  ],
  [
    'the members that `paginate` takes',
    { paginate: { collections: null }, sizee: 5 },
    'No form/function found, or invalid argument keys: { paginate, sizee }.',
    'No form/function found, or invalid argument keys: { paginate, sizee }. paginate takes after, size, ts, events, sources, before, cursor.',
  ],
  [
    'the invalid members',
    { create_collection: obj({ name: 'a b', ttl_days: 'x' }) },
    'document data is not valid.',
    "document data is not valid. name: Invalid character found in name 'a b'. ttl_days: Invalid type String, expected type Integer.",
  ],
  [
    'the cause of a failure in a function',
    { call: { function: 'sign_up' }, arguments: obj(double) },
    'Calling the function resulted in an error.',
    'Calling the function resulted in an error. document is not unique. Another document has the same data.email, and index users_by_email is unique.',
  ],
])('in the page, unlike over HTTP, an error names %s', async (_, query, overHttp, inPage) => {
  const w = await world();
  expect((await w.fault(query)).description).toBe(overHttp);
  expect(await received(w, query)).toBe(inPage);
});

test('an answer without an error is not changed', async () => {
  const w = await world();
  const answer = await w.answer({ add: [1, 1] });
  expect(pageBody(answer, undefined)).toBe(answer.body);
});

test('a permission error does not say what was denied', async () => {
  const w = await world();
  const { secret } = await w.document({ create_key: obj({ role: 'client' }) });
  const query = { get: doc('users', 1) };
  expect(await received(w, query, secret)).toBe(
    'Insufficient privileges to perform the action. No role of the caller allows it: see the inspector, or the log of the hub.',
  );
});

test('the error for an invalid secret names its kind, and does not repeat it', async () => {
  const w = await world();
  const key = await w.document({ create_key: obj({ role: 'server' }) });
  const token = await w.document({
    create: { tokens: null },
    params: obj({ instance: doc('users', 1) }),
  });
  for (const { ref } of [key, token]) await w.ask({ delete: ref });
  for (const [secret, text] of [
    [key.secret, 'this key was deleted, is expired, or of another database.'],
    [token.secret, 'this token was deleted, is expired, or of another database.'],
    [`${key.secret}:admin`, 'this key was deleted, is expired, or of another database.'],
    ['eyJh.eyJz.c2ln', 'this JWT is expired, or of another audience, or'],
    ['my-secret', 'this is no key or token. Root secrets last as long as a page'],
  ] as const) {
    const description = await received(w, 1, secret);
    expect(description).toContain(text);
    expect(description).not.toContain(secret);
    expect((await w.fault(1, { secret })).description).toBe('Unauthorized');
  }
});
