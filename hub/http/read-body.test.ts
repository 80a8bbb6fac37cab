/** Bodies without a network: what is reserved, and when the sender must have a valid credential. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import type { AnyRequest } from '../connections/any-request.ts';
import { joined } from '../evaluators/text-parts.ts';
import { DEFAULT_SETTINGS } from '../settings/settings.ts';
import { BodyMemory } from './body-memory.ts';
import { ClientGone, readBody, type ReadBodyOptions } from './read-body.ts';

/** A request whose body is pushed by the test, and the memory that all bodies share. */
function openBody(options: Partial<ReadBodyOptions> = {}, headers: Record<string, string> = {}) {
  const memory = new BodyMemory(1000, 1000);
  const body = Object.assign(new Readable({ read: () => undefined }), { headers, aborted: false });
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

/** Sends each chunk when the one before it has been read, and then ends the body. */
function sendInChunks(body: Readable, chunks: readonly Buffer[]): void {
  const rest = [...chunks];
  body._read = () => void body.push(rest.shift() ?? null);
}

const UNLIMITED = new BodyMemory(Infinity, Infinity).shareOf('192.0.2.1');
const GZIP = { 'content-encoding': ' GZIP' };

test('a compressed body reserves memory for what it inflates to', async () => {
  const { memory, body, read } = openBody({}, GZIP);
  const reading = read();
  body.push(gzipSync('x'.repeat(900)));
  body.push(null);
  const { parts, release } = await reading;
  expect([joined(parts)?.toString(), memory.used]).toEqual(['x'.repeat(900), 900]);
  release();
  expect(memory.used).toBe(0);
});

test.each([
  ['than a body may have', 'x'.repeat(200).padStart(1001, randomBytes(100).toString('hex'))],
  ['than its size allows', 'x'.repeat(500)],
])('a compressed body that inflates to more bytes %s is refused', async (_, text) => {
  const limits = { ...DEFAULT_SETTINGS, inflatedFreeBytes: 400, inflateRatio: 10 };
  const { memory, body, read } = openBody({ limits }, GZIP);
  const reading = read();
  body.push(gzipSync(text));
  await expect(reading).rejects.toMatchObject({ code: 'request too large' });
  expect(memory.used).toBe(0);
});

test('the rest of a compressed body that was refused is discarded, however long it is', async () => {
  const bytesMax = 100_000;
  const { body, read } = openBody({ bytesMax, memory: UNLIMITED }, GZIP);
  // Too long for the buffer of the decompression, so the next chunk waits for it when the body is refused.
  const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024));
  sendInChunks(body, [bomb, ...Array.from({ length: 3 }, () => randomBytes(bytesMax))]);
  await expect(read()).rejects.toMatchObject({ code: 'request too large' });
  await expect.poll(() => body.readableEnded).toBe(true);
});

test('the compressed size of a body is limited, even if it inflates to nothing', async () => {
  const { body, read } = openBody({}, GZIP);
  const reading = read();
  body.push(Buffer.concat(Array.from({ length: 100 }, () => gzipSync(''))));
  await expect(reading).rejects.toMatchObject({ code: 'request too large' });
});

test('a short compressed body may inflate to any number of times its size', async () => {
  const limits = { ...DEFAULT_SETTINGS, inflatedFreeBytes: 900, inflateRatio: 10 };
  const { body, read } = openBody({ limits }, GZIP);
  const reading = read();
  body.push(gzipSync('x'.repeat(900)));
  body.push(null);
  expect(joined((await reading).parts)?.length).toBe(900);
});

test('a compressed body that inflates to a large one is read on only when its sender is admitted', async () => {
  const limits = { ...DEFAULT_SETTINGS, smallBodyBytes: 10 };
  const refused = new Refusal('unauthorized', 'Unauthorized');
  const { memory, body, read } = openBody(
    { limits, admitLarge: () => Promise.reject(refused) },
    GZIP,
  );
  const reading = read();
  body.push(gzipSync('x'.repeat(11)));
  body.push(null);
  await expect(reading).rejects.toBe(refused);
  expect(memory.used).toBe(0);
});

test('nobody waits for a compressed body whose sender has disconnected', async () => {
  const { body, read } = openBody({}, GZIP);
  const reading = read();
  body.push(gzipSync('x'.repeat(900)).subarray(0, 15));
  body.aborted = true;
  body.destroy();
  await expect(reading).rejects.toBeInstanceOf(ClientGone);
});

test('a compressed body of many chunks is read without a warning of Node', async () => {
  const warned: string[] = [];
  const onWarning = ({ message }: Error): void => void warned.push(message);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const { body, read } = openBody({ bytesMax: Infinity, memory: UNLIMITED }, GZIP);
  const sent = randomBytes(2 * 1024 * 1024);
  const bytes = gzipSync(sent);
  const size = 64 * 1024;
  const count = Math.ceil(bytes.length / size);
  sendInChunks(
    body,
    Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size)),
  );
  expect(joined((await read()).parts)?.equals(sent)).toBe(true);
  expect(warned).toEqual([]);
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
