/** Bodies without a network: what is reserved, and when the sender must have a valid credential. */
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { AnyRequest } from '../connections/any-request.ts';
import { joined } from '../evaluators/text-parts.ts';
import { DEFAULT_SETTINGS } from '../settings/settings.ts';
import { BodyMemory } from './body-memory.ts';
import { ClientGone, readBody, type ReadBodyOptions } from './read-body.ts';

/** A request whose body is pushed by the test, and the memory that all bodies share. */
function openBody(options: Partial<ReadBodyOptions> = {}) {
  const memory = new BodyMemory(1000, 1000);
  const body = Object.assign(new Readable({ read: () => undefined }), { headers: {} });
  const read = () =>
    readBody(body as unknown as AnyRequest, {
      limits: DEFAULT_SETTINGS,
      bytesMax: 1000,
      memory: memory.shareOf('192.0.2.1'),
      address: '192.0.2.1',
      admitLarge: async () => undefined,
      ...options,
    });
  return { memory, body, read };
}

test('a body reserves memory until its request is answered', async () => {
  const { memory, body, read } = openBody();
  const reading = read();
  for (const part of ['{"add":', '[1,2]}', null]) body.push(part);
  const { parts, release } = await reading;
  expect([joined(parts)?.toString(), memory.used]).toEqual(['{"add":[1,2]}', 13]);
  release();
  release();
  expect(memory.used).toBe(0);
});

test('a body that is late reserves no memory for what arrives after the refusal', async () => {
  const limits = { ...DEFAULT_SETTINGS, requestMs: 20 };
  const { memory, body, read } = openBody({ limits });
  const reading = read();
  body.push('{');
  await expect(reading).rejects.toMatchObject({ code: 'request timeout' });
  expect(memory.used).toBe(0);
  body.push('"late":1}');
  await expect.poll(() => body.readableLength).toBe(0);
  expect(memory.used).toBe(0);
});

test('a body that stops in the middle is refused, however fast it began', async () => {
  const limits = { ...DEFAULT_SETTINGS, bodyWindowMs: 50, bodyWindowBytes: 100 };
  const { body, read } = openBody({ limits });
  const reading = read();
  body.push('x'.repeat(500));
  await expect(reading).rejects.toMatchObject({ code: 'request timeout' });
});

test('a large body is read on only when its sender is admitted, which is asked once', async () => {
  const limits = { ...DEFAULT_SETTINGS, smallBodyBytes: 10 };
  let [asked, admit] = [0, (): void => undefined];
  const admitLarge = (): Promise<void> => {
    asked += 1;
    return new Promise((resolve) => (admit = resolve));
  };
  const { memory, body, read } = openBody({ limits, admitLarge });
  const reading = read();
  body.push('x'.repeat(11));
  await expect.poll(() => asked).toBe(1);
  for (let n = 0; n < 5; n += 1) body.push('x'.repeat(11));
  body.push(null);
  await new Promise((resolve) => setImmediate(resolve));
  expect(memory.used).toBe(11);
  admit();
  expect(joined((await reading).parts)?.length).toBe(66);
  expect(asked).toBe(1);
});

test('nobody waits for the body of a request that was closed before', async () => {
  const { body, read } = openBody();
  body.destroy();
  await new Promise((resolve) => body.once('close', resolve));
  await expect(read()).rejects.toBeInstanceOf(ClientGone);
});

test('the memory of bodies is limited for each address and in total', () => {
  const memory = new BodyMemory(100, 60);
  const [one, same, other] = ['192.0.2.1', '192.0.2.1', '192.0.2.2'].map((address) =>
    memory.shareOf(address),
  );
  one?.reserve(60);
  expect(() => same?.reserve(1)).toThrow('from one address');
  other?.reserve(40);
  expect(() => other?.reserve(1)).toThrow('too many request bodies');
  expect(memory.used).toBe(100);
  one?.release();
  same?.reserve(60);
  expect(memory.used).toBe(100);
});
