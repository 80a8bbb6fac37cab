import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { expect, test } from 'vitest';
import { createAccessTokens } from '../../../worker/browser/access-tokens.ts';
import { createMemoryStore, SharedMemory } from '../../store/memory.ts';
import { create, doc, EngineWorld, obj, ROOT, type Query } from '../testing/engine-world.ts';
import { all, at, equal, notes, on, privilege, v } from '../testing/role-notes.ts';

const ISSUER = 'https://login.example.org/';
const URI = 'https://login.example.org/keys.json';

/** A claim that is `undefined` is left out of the token. */
type Claims = Record<string, unknown>;

interface Signer {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

async function signer(alg: string, kid: string): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

/** An identity provider, and a database with a child database that trusts it. */
class ProviderWorld {
  readonly w: EngineWorld;
  published: readonly object[] = [];
  fetches = 0;
  isOnline = true;
  audience = '';

  constructor(memory = new SharedMemory()) {
    const host = createAccessTokens('https://example.org/root', () => this.answerFetch());
    this.w = new EngineWorld(createMemoryStore(memory), { accessTokens: host });
  }

  private answerFetch(): Promise<Response> {
    this.fetches += 1;
    if (!this.isOnline) return Promise.reject(new TypeError('offline'));
    return Promise.resolve(Response.json({ keys: this.published }));
  }

  get admin() {
    return { secret: `${ROOT}:inner:admin` };
  }

  async setUp(roles: Query): Promise<void> {
    const { w, admin } = this;
    await w.ask({ create_database: obj({ name: 'inner' }) });
    await w.ask({ create_collection: obj({ name: 'notes' }) }, admin);
    for (const id of [1, 2, 3]) await w.ask(create(doc('notes', id), { n: id }), admin);
    const named = (name: string, ...privileges: readonly Query[]) =>
      w.ask({ create_role: obj({ name, privileges }) }, admin);
    await named('reader', privilege(notes, { read: true }));
    await named('writer', privilege(notes, { read: true, write: true }));
    const own = on(
      'r',
      equal(at(['data', 'n'], { get: v('r') }), at(['n'], { current_token: null })),
    );
    await named('owner', privilege(notes, { read: own }));
    const provider = { name: 'p', issuer: ISSUER, jwks_uri: URI, roles };
    const made = await w.ask({ create_access_provider: obj(provider) }, admin);
    this.audience = (made as { audience: string }).audience;
  }

  token(
    { alg, kid, privateKey }: Signer,
    claims: Claims = {},
    header: Record<string, unknown> = {},
  ): Promise<string> {
    const now = Math.floor(this.w.now / 1e6);
    const all: Claims = {
      iss: ISSUER,
      aud: ['https://other.example.org', this.audience],
      sub: 'ann',
      exp: now + 3600,
      ...claims,
    };
    for (const [name, value] of Object.entries(all)) if (value === undefined) delete all[name];
    return new SignJWT(all).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
  }

  async status(secret: string): Promise<number> {
    return (await this.w.answer(all, { secret })).status;
  }
}

async function worldWith(key: Signer, roles: Query = { role: 'reader' }): Promise<ProviderWorld> {
  const world = new ProviderWorld();
  world.published = [key.jwk];
  await world.setUp(roles);
  return world;
}

for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA']) {
  test(`a token signed with ${alg} gives its caller the roles of its provider, and its subject as identity`, async () => {
    const key = await signer(alg, 'k1');
    const world = await worldWith(key);
    const { w } = world;
    const token = { secret: await world.token(key, { n: 2, '@odd': [1.5] }) };
    expect(await w.page(all, token)).toHaveLength(3);
    const update = { update: doc('notes', 1), params: obj({ data: obj({ n: 9 }) }) };
    expect(await w.fault(update, token)).toMatchObject({ code: 'permission denied' });
    expect(
      await w.ask([{ current_identity: null }, { has_current_identity: null }], token),
    ).toEqual(['ann', true]);
    expect(await w.ask({ current_token: null }, token)).toMatchObject({
      '@obj': { sub: 'ann', n: 2, '@odd': [1.5], iss: ISSUER },
    });
    expect(await w.ask({ has_current_token: null }, token)).toBe(true);
    expect(await w.ask([{ logout: false }, { logout: true }], token)).toEqual([false, false]);
    expect(await w.engine.authenticate(token.secret)).toMatchObject({
      label: { kind: 'provider' },
      role: 'roles',
      identity: undefined,
      database: ['inner'],
    });
  });
}

test('a token with any defect is refused with status 401', async () => {
  const key = await signer('RS256', 'k1');
  const stranger = await signer('RS256', 'k1');
  const world = await worldWith(key);
  const now = Math.floor(world.w.now / 1e6);
  const good = await world.token(key);
  expect(await world.status(good)).toBe(200);
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [header = '', payload = '', signature = ''] = good.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
  const bad: Record<string, string | Promise<string>> = {
    'another key under the same id': world.token(stranger),
    'another issuer': world.token(key, { iss: 'https://evil.example.org/' }),
    'no issuer': world.token(key, { iss: undefined }),
    'another audience': world.token(key, { aud: 'https://db.fauna.com/db/aaaaaaaaaaaaa' }),
    'no audience': world.token(key, { aud: undefined }),
    'two databases': world.token(key, { aud: [world.audience, 'https://db.fauna.com/db/b'] }),
    'the same database twice': world.token(key, { aud: [world.audience, world.audience] }),
    'the root': world.token(key, { aud: 'https://example.org/root' }),
    expired: world.token(key, { exp: now }),
    'no end': world.token(key, { exp: undefined }),
    'not yet': world.token(key, { nbf: now + 120 }),
    'critical extension': world.token(key, {}, { crit: ['b64'], b64: true }),
    'alg none': `${part({ alg: 'none', kid: 'k1' })}.${payload}.`,
    'alg none with a signature': `${part({ alg: 'none', kid: 'k1' })}.${payload}.${signature}`,
    'claims changed': `${header}.${part({ ...claims, sub: 'bob' })}.${signature}`,
    'header changed': `${part({ alg: 'PS256', kid: 'k1' })}.${payload}.${signature}`,
    'no JSON': `${header}.${Buffer.from('{').toString('base64url')}.${signature}`,
    'no object': `${header}.${part([])}.${signature}`,
    'a part too many': `${good}.${signature}`,
    'a scope': `${good}:admin`,
    'too long': world.token(key, { long: 'x'.repeat(8192) }),
    'a word': 'eyes.open',
  };
  for (const [what, token] of Object.entries(bad)) {
    expect([what, await world.status(await token)]).toEqual([what, 401]);
    expect([what, await world.w.engine.authenticate(await token)]).toEqual([what, undefined]);
  }
  // An HMAC with the published key as its secret, which everybody can read.
  const hmac = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
    .sign(new TextEncoder().encode(JSON.stringify(key.jwk)));
  expect(await world.status(hmac)).toBe(401);
  expect(await world.status(good)).toBe(200);
  // A small difference between clocks is tolerated.
  expect(await world.status(await world.token(key, { nbf: now + 50, iat: now + 50 }))).toBe(200);
});

test('an expired token is refused, although the result of its signature check is cached', async () => {
  const key = await signer('ES256', 'k1');
  const world = await worldWith(key);
  const token = await world.token(key, { exp: Math.floor(world.w.now / 1e6) + 30 });
  expect(await world.status(token)).toBe(200);
  world.w.now += 30_000_000;
  expect(await world.status(token)).toBe(401);
  expect(await world.w.engine.authenticate(token)).toBeUndefined();
});

test('roles of a provider can depend on claims; a token that gets no role is refused', async () => {
  const key = await signer('ES256', 'k1');
  const when = (name: string) => on('claims', at(['roles', name], v('claims')));
  const world = await worldWith(key, [
    obj({ role: { role: 'reader' }, predicate: when('reader') }),
    obj({ role: { role: 'writer' }, predicate: when('writer') }),
    obj({
      role: { role: 'owner' },
      predicate: on('claims', equal(at(['kind'], v('claims')), 'own')),
    }),
    // This predicate fails for all callers.
    obj({ role: { role: 'writer' }, predicate: on('claims', { get: doc('notes', 99) }) }),
  ]);
  const { w } = world;
  const update = { update: doc('notes', 1), params: obj({ data: obj({ m: 1 }) }) };
  const as = async (claims: Claims) => ({ secret: await world.token(key, claims) });
  const reader = await as({ roles: { reader: true } });
  expect(await w.page(all, reader)).toHaveLength(3);
  expect(await w.fault(update, reader)).toMatchObject({ code: 'permission denied' });
  await w.ask(update, await as({ roles: { reader: true, writer: true } }));
  expect(await w.page(all, await as({ kind: 'own', n: 2 }))).toHaveLength(1);
  for (const claims of [{}, { roles: { reader: 'true' } }, { roles: { reader: 1 } }]) {
    const { secret } = await as(claims);
    expect(await world.status(secret)).toBe(401);
    expect(await w.engine.authenticate(secret)).toBeUndefined();
  }
});

test('a function with a role does not have the roles that claims give its caller', async () => {
  const key = await signer('ES256', 'k1');
  const world = await worldWith(key, [
    { role: 'reader' },
    obj({ role: { role: 'writer' }, predicate: on('claims', true) }),
  ]);
  const { w, admin } = world;
  await w.ask({ create_role: obj({ name: 'nothing' }) }, admin);
  const touch = { update: doc('notes', 1), params: obj({ data: obj({ m: 1 }) }) };
  const body = on('_', [{ current_identity: null }, { exists: doc('notes', 1) }]);
  const functions = [
    { name: 'look', body },
    { name: 'touch', body: on('_', touch) },
  ];
  for (const each of functions)
    await w.ask({ create_function: obj({ ...each, role: { role: 'nothing' } }) }, admin);
  const call = functions.map(({ name }) => privilege({ function: name }, { call: true }));
  await w.ask({ update: { role: 'reader' }, params: obj({ privileges: call }) }, admin);
  const token = { secret: await world.token(key) };
  expect(await w.ask({ exists: doc('notes', 1) }, token)).toBe(true);
  expect(await w.ask({ call: { function: 'look' }, arguments: null }, token)).toEqual([
    'ann',
    false,
  ]);
  const denied = { call: { function: 'touch' }, arguments: null };
  expect(await w.fault(denied, token)).toMatchObject({ code: 'call error' });
  await w.ask(touch, token);
});

test('predicates of a provider can read documents', async () => {
  const key = await signer('ES256', 'k1');
  const isOpen = on('claims', { exists: doc('notes', 7) });
  const world = await worldWith(key, [obj({ role: { role: 'reader' }, predicate: isOpen })]);
  const token = await world.token(key);
  expect(await world.status(token)).toBe(401);
  await world.w.ask(create(doc('notes', 7)), world.admin);
  expect(await world.status(token)).toBe(200);
});

test('provider keys are fetched once, survive a reload, and stay valid offline for a limited time', async () => {
  const key = await signer('RS256', 'k1');
  const memory = new SharedMemory();
  const first = new ProviderWorld(memory);
  first.published = [key.jwk];
  await first.setUp({ role: 'reader' });
  const life = { exp: Math.floor(first.w.now / 1e6) + 40 * 86_400 };
  const token = await first.token(key, life);
  const before = await Promise.all([first.status(token), first.status(token)]);
  expect([...before, first.fetches]).toEqual([200, 200, 1]);

  const second = new ProviderWorld(memory);
  second.isOnline = false;
  second.w.now = first.w.now;
  second.audience = first.audience;
  expect(await second.status(token)).toBe(200);
  expect(second.fetches).toBe(0);
  // When renewing the keys fails, the cached keys remain valid…
  second.w.now += 2 * 3600 * 1_000_000;
  expect(await second.status(token)).toBe(200);
  expect(second.fetches).toBe(1);
  // …but not forever.
  second.w.now += 31 * 86_400 * 1_000_000;
  expect(await second.status(token)).toBe(401);
  second.isOnline = true;
  second.published = [key.jwk];
  second.w.now += 60_000_000;
  expect(await second.status(token)).toBe(200);
});

test('a provider can add a new signing key and withdraw the old one', async () => {
  const [old, next] = [await signer('RS256', 'k1'), await signer('ES256', 'k2')];
  const world = await worldWith(old);
  const [oldToken, nextToken] = [await world.token(old), await world.token(next)];
  expect(await world.status(oldToken)).toBe(200);
  expect(await world.status(nextToken)).toBe(401);
  world.published = [old.jwk, next.jwk];
  // A series of unknown key ids does not cause a fetch for each.
  expect([await world.status(nextToken), world.fetches]).toEqual([401, 1]);
  world.w.now += 60_000_000;
  expect([await world.status(nextToken), world.fetches]).toEqual([200, 2]);
  expect(await world.status(oldToken)).toBe(200);
  world.published = [next.jwk];
  world.w.now += 3600 * 1_000_000;
  const later = { exp: Math.floor(world.w.now / 1e6) + 600 };
  expect(await world.status(await world.token(next, later))).toBe(200);
  expect(await world.status(await world.token(old, later))).toBe(401);
});

test('an invalid response from the key address does not discard the cached keys', async () => {
  const key = await signer('ES256', 'k1');
  const memory = new SharedMemory();
  let body = JSON.stringify({ keys: [key.jwk] });
  const world = new ProviderWorld(memory);
  const host = createAccessTokens(undefined, () => Promise.resolve(new Response(body)));
  const w = new EngineWorld(createMemoryStore(memory), { accessTokens: host });
  await world.setUp({ role: 'reader' });
  w.now = world.w.now;
  const token = { secret: await world.token(key, { exp: world.w.now / 1e6 + 90_000 }) };
  expect(await w.page(all, token)).toHaveLength(3);
  for (const nonsense of [
    '',
    '<html>',
    '[]',
    '{"keys":1}',
    `{"keys":["${'x'.repeat(300_000)}"]}`,
  ]) {
    body = nonsense;
    w.now += 3601 * 1_000_000;
    expect(await w.page(all, token)).toHaveLength(3);
  }
});

test('if the token or the keys have no key id, every key is tried', async () => {
  const [a, b] = [await signer('ES256', 'a'), await signer('ES256', 'b')];
  const world = await worldWith(a);
  world.published = [a, b].map(({ jwk }) => ({ ...jwk, kid: undefined }));
  expect(await world.status(await world.token(b, {}, { kid: undefined }))).toBe(200);
  const stranger = await signer('ES256', 'c');
  expect(await world.status(await world.token(stranger, {}, { kid: undefined }))).toBe(401);
});

test('an access provider shows its audience, and requires a unique issuer and an https key address', async () => {
  const key = await signer('ES256', 'k1');
  const world = await worldWith(key);
  const { w, admin } = world;
  expect(world.audience).toMatch(/^https:\/\/db\.fauna\.com\/db\/[a-z2-7]{13}$/);
  const failures = async (fields: Record<string, unknown>) =>
    (await w.fault({ create_access_provider: obj({ name: 'q', ...fields }) }, admin)).failures?.map(
      ({ field, code }) => [field.join('.'), code],
    );
  expect(await failures({})).toEqual([
    ['issuer', 'value required'],
    ['jwks_uri', 'value required'],
  ]);
  expect(await failures({ issuer: ISSUER, jwks_uri: 'http://login.example.org' })).toEqual([
    ['issuer', 'duplicate value'],
    ['jwks_uri', 'invalid uri'],
  ]);
  const good = { issuer: 'i', jwks_uri: URI };
  expect(await failures({ ...good, roles: 'reader' })).toEqual([['roles', 'invalid type']]);
  expect(await failures({ ...good, roles: [obj({ predicate: on('c', true) })] })).toEqual([
    ['roles.0.role', 'value required'],
  ]);
  expect(
    await failures({ ...good, roles: obj({ role: { role: 'reader' }, predicate: 1 }) }),
  ).toEqual([['roles.predicate', 'invalid type']]);
  const provider = { access_provider: 'p' };
  expect(
    await w.ask({ update: provider, params: obj({ audience: 'x', issuer: 'i2' }) }, admin),
  ).toMatchObject({ issuer: 'i2', audience: world.audience });
  expect(await world.status(await world.token(key, { iss: 'i2' }))).toBe(200);
  expect(await world.status(await world.token(key))).toBe(401);
  // Only admins can read access providers.
  const { secret } = await w.document({ create_key: obj({ role: 'server' }) }, admin);
  expect(await w.fault({ get: provider }, { secret })).toMatchObject({ code: 'permission denied' });
  const token = await world.token(key, { iss: 'i2' });
  await w.ask({ delete: provider }, admin);
  expect(await world.status(token)).toBe(401);
});

test('the root database has access providers only if the host names an audience for it', async () => {
  const key = await signer('ES256', 'k1');
  const world = new ProviderWorld();
  world.published = [key.jwk];
  const { w } = world;
  await w.ask({ create_role: obj({ name: 'r' }) });
  const provider = { name: 'p', issuer: ISSUER, jwks_uri: URI };
  const made = await w.ask({
    create_access_provider: obj({ ...provider, roles: { role: 'r' } }),
  });
  expect(made).toMatchObject({ audience: 'https://example.org/root' });
  world.audience = 'https://example.org/root';
  const token = { secret: await world.token(key) };
  expect(await w.ask({ current_identity: null }, token)).toBe('ann');
  const unnamed = new EngineWorld();
  expect(await unnamed.fault({ create_access_provider: obj(provider) })).toMatchObject({
    code: 'feature not available',
  });
});
