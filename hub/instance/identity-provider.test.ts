/** A hub as started for development, and an identity provider on the same machine. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { openTestHub } from '../testing/test-hub.ts';

const ISSUER = 'https://issuer.example/';

async function startProvider() {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one' }];
  const server: Server = createServer((_, response) => response.end(JSON.stringify({ keys })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    uri: `http://127.0.0.1:${port}/keys`,
    token: (audience: string) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuer(ISSUER)
        .setAudience(audience)
        .setSubject('ann')
        .setExpirationTime('1h')
        .sign(privateKey),
  };
}

const object = (members: Record<string, unknown>) => ({ object: members });
const providerAt = (jwks_uri: string) => ({
  create_access_provider: object({
    name: 'login',
    issuer: ISSUER,
    jwks_uri,
    roles: [{ role: 'nobody' }],
  }),
});
const role = { create_role: object({ name: 'nobody', privileges: [] }) };
const created = (uri: string) => [role, providerAt(uri)] as const;

test('the audience of a hub is its URL; on loopback, keys of providers may be there too', async () => {
  const provider = await startProvider();
  const hub = await openTestHub();
  for (const query of created(provider.uri))
    expect(await hub.query(query)).toMatchObject({ status: 201 });
  const made = await hub.query({ select: 'audience', from: { get: { access_provider: 'login' } } });
  expect(made.body.resource).toBe(hub.url);
  const identity = { current_identity: null };
  const found = await hub.query(identity, await provider.token(hub.url));
  expect(found).toMatchObject({ status: 200, body: { resource: 'ann' } });
  const other = await provider.token('https://elsewhere.example');
  expect(await hub.query(identity, other)).toMatchObject({ status: 401 });
});

test('key_from_secret finds nothing for a valid token of a provider, and does not repeat the token', async () => {
  const provider = await startProvider();
  const hub = await openTestHub();
  for (const query of created(provider.uri))
    expect(await hub.query(query)).toMatchObject({ status: 201 });
  const token = await provider.token(hub.url);
  expect(await hub.query({ current_token: null }, token)).toMatchObject({ status: 200 });
  for (const secret of [undefined, token]) {
    const answer = await hub.query({ key_from_secret: token }, secret);
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ code: 'instance not found', position: [] }] },
    });
    expect(JSON.stringify(answer.body)).not.toContain(token);
  }
});

test('a public URL is the audience, whatever address the hub listens on', async () => {
  const hub = await openTestHub({ settings: { publicUrl: 'https://hub.example' } });
  for (const query of created('https://keys.example/'))
    expect(await hub.query(query)).toMatchObject({ status: 201 });
  const made = await hub.query({ select: 'audience', from: { get: { access_provider: 'login' } } });
  expect(made.body.resource).toBe('https://hub.example');
});

const NEVER = [
  'http://10.0.0.1/keys',
  'http://localhost.example/',
  'http://127.0.0.1@evil.example/',
  'http://127.0.0.1:1@evil.example/',
];
const ON_LOOPBACK = ['http://localhost:1/', 'http://127.0.0.1', 'http://[::1]:8080/keys'];

test.each([
  ['a hub on all addresses accepts no http URL of keys', '0.0.0.0', []],
  [
    'a hub on loopback accepts http URLs of keys on loopback, and no others',
    '127.0.0.1',
    ON_LOOPBACK,
  ],
])('%s', async (_, host, taken) => {
  const hub = await openTestHub({ settings: { host } });
  await hub.query(role);
  const refused = [...NEVER, ...ON_LOOPBACK].filter((uri) => !taken.includes(uri));
  for (const uri of refused)
    expect(await hub.query(providerAt(uri)), uri).toMatchObject({
      status: 400,
      body: { errors: [{ code: 'validation failed' }] },
    });
  for (const uri of taken) {
    expect(await hub.query(providerAt(uri)), uri).toMatchObject({ status: 201 });
    await hub.query({ delete: { access_provider: 'login' } });
  }
});
