/** Steps that send secrets as values of queries, and over HTTP. */
import { alice, byEmail, doc, login, obj, type Step } from './canary-step.ts';

/** Secrets as values of queries. */
export const VALUES: readonly Step[] = [
  // This step is first: later steps send so many wrong passwords that the account is locked for a while.
  {
    name: 'a password in an address',
    by: 'get',
    as: 'secret of the token',
    query: (text) => ({ identify: alice, password: text('last password') }),
  },
  {
    name: 'stream that reads a password',
    by: 'stream',
    as: 'secret of the admin key',
    query: (text) => ({
      select: [1],
      from: [{ identify: alice, password: text('last password') }, alice],
    }),
  },
  {
    name: 'identify',
    query: (text) => ({ identify: alice, password: text('last password') }),
  },
  {
    name: 'identify with a wrong password',
    query: (text) => ({ identify: alice, password: text('wrong password') }),
  },
  {
    name: 'identify with a variable',
    query: (text) => ({
      let: [{ password: text('last password') }],
      in: { identify: alice, password: { var: 'password' } },
    }),
  },
  {
    name: 'identify with another variable',
    query: (text) => ({
      let: [{ x: text('last password') }],
      in: { identify: alice, password: { concat: [{ var: 'x' }, ''] } },
    }),
  },
  {
    name: 'identify with each of a list',
    query: (text) => ({
      map: { lambda: 'each', expr: { identify: alice, password: { var: 'each' } } },
      collection: [text('wrong password'), text('last password')],
    }),
  },
  {
    name: 'a secret as a literal',
    query: (text) => ({ equals: [text('secret of the admin key'), 'another'] }),
  },
  {
    name: 'a secret in a text',
    query: (text) => ({ length: { concat: ['my key is ', text('secret of the admin key')] } }),
  },
  {
    name: 'a formatted secret',
    query: (text) => ({ format: '<%s>', values: text('secret of the token') }),
    answers: ['secret of the token'],
  },
  {
    name: 'a hash as a literal',
    query: (text) => ({ containsstr: text('imported hash'), search: '$2a$' }),
  },
  {
    name: 'an access token as a literal',
    query: (text) => ({ length: text('access token') }),
  },
  {
    name: 'key from secret',
    query: (text) => ({
      select: ['ref'],
      from: { key_from_secret: text('secret of the admin key') },
    }),
  },
  {
    name: 'key from an unknown secret',
    fails: 400,
    query: (text) => ({ key_from_secret: text('unknown secret') }),
  },
  {
    name: 'abort with a secret',
    fails: 400,
    query: (text) => ({ abort: { concat: ['no: ', text('secret of the token')] } }),
    // The response repeats the caller's own text.
    answers: ['secret of the token'],
  },
  {
    name: 'abort with a password',
    fails: 400,
    query: (text) => ({
      let: [{ password: text('last password') }],
      in: { abort: { var: 'password' } },
    }),
    answers: ['last password'],
  },
  {
    name: 'a secret where a number belongs',
    fails: 400,
    query: (text) => ({ add: [1, text('secret of the token')] }),
  },
  {
    name: 'a secret that is no date',
    fails: 400,
    query: (text) => ({ date: text('secret of the token') }),
  },
  {
    name: 'a secret as a path',
    fails: 404,
    query: (text) => ({ select: [text('secret of the token')], from: obj({}) }),
  },
  {
    name: 'a secret as a form',
    fails: 400,
    query: (text) => ({ [text('secret of the token')]: 1 }),
  },
  {
    name: 'a password in a document',
    query: (text) => ({
      create: doc('notes', '1'),
      params: obj({ data: obj({ password: text('password in data') }) }),
    }),
    answers: ['password in data'],
  },
];

export const HTTP: readonly Step[] = [
  {
    name: 'no JSON',
    fails: 400,
    by: 'post',
    as: 'secret of the token',
    raw: (text) => `password=${text('password')}`,
  },
  {
    name: 'a text of nobody',
    fails: 401,
    by: 'post',
    as: 'unknown secret',
    query: (text) => text('password'),
  },
  {
    name: 'log in by HTTP',
    by: 'post',
    as: 'secret of the client key',
    scheme: 'Basic',
    query: (text) => login(byEmail, text('last password')),
    brings: [{ name: 'secret of the token by HTTP', at: 'secret', mayBeIn: [] }],
  },
  {
    name: 'fail to log in by HTTP',
    fails: 400,
    by: 'post',
    as: 'secret of the client key',
    query: (text) => login(byEmail, text('wrong password')),
  },
  {
    name: 'an unknown secret by HTTP',
    fails: 401,
    by: 'post',
    as: 'unknown secret',
    query: () => 1,
  },
  {
    name: 'an access token that nobody signed',
    fails: 401,
    by: 'post',
    as: 'access token',
    query: () => 1,
  },
  {
    name: 'a secret in a path',
    fails: 404,
    by: 'get',
    as: 'secret of the token',
    path: (text) => `/tokens/${text('secret of the token')}`,
  },
  {
    name: 'own token',
    by: 'get',
    as: 'secret of the token',
    path: () => '/tokens/self',
    answers: ['hash of the token'],
  },
  {
    name: 'own credentials',
    by: 'get',
    as: 'secret of the token',
    path: () => '/credentials/self',
    // A user may read the hash of the own password.
    answers: ['hash of the last password'],
  },
  {
    name: 'secrets in headers',
    by: 'post',
    as: 'secret of the admin key',
    headers: (text) => ({
      'user-agent': `app ${text('secret of the admin key')}`,
      'x-forwarded-for': `Bearer ${text('secret of the token')}`,
      'x-fauna-driver': text('secret of the token'),
    }),
    query: () => 1,
  },
  { name: 'scope: role', as: 'secret of the admin key', scope: ':server', query: () => 1 },
  {
    name: 'scope: document',
    as: 'secret of the admin key',
    scope: ':@doc/users/1',
    query: () => ({ current_identity: null }),
  },
  {
    name: 'scope: none',
    fails: 401,
    as: 'secret of the admin key',
    scope: ':@role/nobody',
    query: () => 1,
  },
  {
    name: 'scope by HTTP',
    by: 'post',
    scheme: 'Basic',
    as: 'secret of the admin key',
    scope: ':admin',
    query: () => 1,
  },
  {
    name: 'stream of a user',
    by: 'stream',
    as: 'secret of the admin key',
    query: () => alice,
  },
  {
    name: 'log out',
    as: 'secret of the token',
    query: () => ({ logout: true }),
  },
];
