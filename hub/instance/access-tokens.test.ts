import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createAccessTokens, isPrivate } from './access-tokens.ts';

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '192.168.0.1',
  '172.20.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '::1',
  '::',
  'fe80::1',
  'fd00::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::7f00:1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2002:7f00:1::',
  'fec0::1',
])('%s is not public', (address) => {
  expect(isPrivate(address)).toBe(true);
});

test.each(['1.1.1.1', '2606:4700::1111', '172.32.0.1'])('%s is public', (address) => {
  expect(isPrivate(address)).toBe(false);
});

const tokensOf = (isLoopbackOnly: boolean) =>
  createAccessTokens({ url: () => undefined, isLoopbackOnly });

test.each([
  ['on loopback', true],
  ['on all addresses', false],
])(
  'a hub %s fetches no keys from private addresses, by address or by name',
  async (_, isLoopbackOnly) => {
    const tokens = tokensOf(isLoopbackOnly);
    for (const uri of [
      'https://127.0.0.1/keys',
      'https://[::1]/keys',
      'https://169.254.169.254/',
      'https://localhost/keys',
    ])
      await expect(tokens.fetchKeys(uri), uri).rejects.toThrow('public addresses');
  },
);

test('over http, keys are only fetched from this machine, and only if the hub listens on loopback', async () => {
  const server = createServer((_, response) => response.end('{"keys":[]}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    for (const host of ['127.0.0.1', 'localhost'])
      expect(await tokensOf(true).fetchKeys(`http://${host}:${port}/keys`)).toBe('{"keys":[]}');
    for (const host of ['10.0.0.1', '169.254.169.254', '1.1.1.1', '[fe80::1]', '0.0.0.0'])
      await expect(tokensOf(true).fetchKeys(`http://${host}/keys`)).rejects.toThrow('this machine');
    for (const uri of [`http://127.0.0.1:${port}/keys`, `http://localhost:${port}/keys`])
      await expect(tokensOf(false).fetchKeys(uri)).rejects.toThrow('public addresses');
  } finally {
    server.close();
  }
});
