import { expect, test } from 'vitest';
import { restQuery } from './rest-query.ts';
import { findPlace } from './routes.ts';

/** The query made from a request of the older REST API. */
function queryOf(method: string, url: string, body?: string): unknown {
  const { route, parameters } = findPlace(url);
  if (route.to !== 'rest') return route.to;
  const input = restQuery(route.target, method, parameters, body);
  return typeof input === 'string' ? input : [input.allows, JSON.parse(input.query)];
}

const native = (id: string) => ({ '@ref': { id } });
const named = (id: string, kind: string) => ({ '@ref': { id, collection: native(kind) } });
const USERS = { ref: { collection: 'users' }, id: '1' };
const self = (collection: unknown) => ({ '@ref': { id: 'self', collection } });

test.each([
  ['GET', '/collections', ['read', { paginate: native('collections') }]],
  ['GET', '/classes?size=2', ['read', { paginate: native('classes'), size: 2 }]],
  ['GET', '/indexes?after=12', ['read', { paginate: native('indexes'), after: { quote: 12 } }]],
  [
    'GET',
    '/keys?before=keys/12',
    ['read', { paginate: native('keys'), before: { '@ref': 'keys/12' } }],
  ],
  [
    'GET',
    '/keys?before={"a":[1,{"@ts":"x"}]}',
    ['read', { paginate: native('keys'), before: { quote: { a: [1, { '@ts': 'x' }] } } }],
  ],
  ['GET', '/collections/users', ['read', { get: named('users', 'collections') }]],
  ['GET', '/classes/users/1', ['read', { get: USERS }]],
  ['GET', '/collections/users/1/events?size=5', ['read', { paginate: { events: USERS }, size: 5 }]],
  ['GET', '/functions/f%2Fg', ['read', { get: named('f/g', 'functions') }]],
  ['GET', '/keys/7', ['read', { get: { ref: native('keys'), id: '7' } }]],
  ['GET', '/tokens/self', ['read', { get: self(native('tokens')) }]],
  ['GET', '//tokens//self', ['read', { get: self(native('tokens')) }]],
  ['GET', '/collections/users/self', ['read', { get: self(named('users', 'collections')) }]],
  ['DELETE', '/collections/users/1', ['write', { delete: USERS }]],
  ['DELETE', '/roles', 'method not allowed'],
  ['PATCH', '/roles', 'method not allowed'],
  ['PUT', '/collections/users/1/events', 'method not allowed'],
  ['HEAD', '/roles', 'method not allowed'],
  ['GET', '/collections?size=x', 'invalid url parameter'],
  ['GET', '/collections/users/1/2', 'nowhere'],
  ['GET', '/roles/r/1', 'nowhere'],
  ['GET', '/nothing', 'nowhere'],
  ['GET', '/query/1', 'nowhere'],
  ['GET', '/%E0%A4%A', 'nowhere'],
])('restQuery() gives the query or the error of %s %s', (method, url, expected) => {
  expect(queryOf(method, url)).toEqual(expected);
});

test('restQuery() treats a body as data, even if its members look like expressions', () => {
  const body = { data: { at: { '@ts': 't' }, odd: { '@obj': { '@ts': 1 } }, add: [{ '@x': 1 }] } };
  expect(queryOf('POST', '/collections/users', JSON.stringify(body))).toEqual([
    'write',
    { create: named('users', 'collections'), params: { quote: body } },
  ]);
  expect(queryOf('PUT', '/collections/users/1', '{}')).toEqual([
    'write',
    { replace: USERS, params: { quote: {} } },
  ]);
  expect(queryOf('PATCH', '/collections/users/1')).toEqual([
    'write',
    { update: USERS, params: { quote: {} } },
  ]);
});

test.each(['[1]', '{', '1'])(
  'restQuery() refuses the body %s, but a wrong method first',
  (body) => {
    expect(queryOf('POST', '/collections', body)).toBe('invalid body');
    expect(queryOf('PUT', '/collections', body)).toBe('method not allowed');
  },
);
