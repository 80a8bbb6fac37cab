/** Reads a request body within limits: its size, compression ratio and time, and the memory that all bodies share. */
import { isUtf8 } from 'node:buffer';
import { createGunzip, type Gunzip } from 'node:zlib';
import { Refusal } from '../../src/errors.ts';
import type { HubSettings } from '../settings/settings.ts';
import type { AnyRequest } from './acceptor.ts';

/** Bytes of all bodies in memory. */
export class BodyMemory {
  private readonly max: number;
  used = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** @throws Refusal */
  reserve(bytes: number): void {
    if (this.used + bytes > this.max)
      throw new Refusal('storage_blocked', 'The hub holds too many request bodies: try again.');
    this.used += bytes;
  }

  release(bytes: number): void {
    this.used -= bytes;
  }
}

export interface RequestBody {
  readonly text: string | undefined;
  /** Call it when the request is answered. */
  readonly release: () => void;
}

type Limits = Pick<
  HubSettings,
  'requestBytes' | 'inflateRatio' | 'inflatedFreeBytes' | 'requestMs'
>;

/** In place of bytes that are not UTF-8: no JSON parser accepts it. */
const NOT_TEXT = '\uFFFD';

/** The client disconnected while its body was read: nobody waits for a response. */
export class ClientGone extends Error {}

/** @throws Refusal, ClientGone */
export async function readBody(
  request: AnyRequest,
  limits: Limits,
  memory: BodyMemory,
): Promise<RequestBody> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limits.requestBytes) throw tooLarge(limits);
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  let held = 0;
  let isOver = false;
  const reserve = (bytes: number): void => {
    if (isOver) throw new ClientGone('The request was answered before its body arrived.');
    memory.reserve(bytes);
    held += bytes;
  };
  const release = (): void => {
    memory.release(held);
    held = 0;
  };
  try {
    const text = await withDeadline(limits.requestMs, async () => {
      if (encoding === 'identity' || encoding === '') return readPlain(request, limits, reserve);
      if (encoding === 'gzip' || encoding === 'x-gzip') return readGzip(request, limits, reserve);
      const shown = encoding.slice(0, 32);
      throw new Refusal(
        'bad request',
        `Unknown content encoding ${shown}: only gzip is supported.`,
      );
    });
    return { text, release };
  } catch (reason) {
    isOver = true;
    release();
    if (reason instanceof Refusal) throw reason;
    throw new ClientGone('The request ended before its body.', { cause: reason });
  }
}

const tooLarge = ({ requestBytes }: Limits): Refusal =>
  new Refusal('request too large', `The body is larger than ${requestBytes} bytes.`);

/** After the deadline, reading goes on until the connection ends, but reserves nothing more. */
function withDeadline(
  ms: number,
  read: () => Promise<readonly Buffer[]>,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const text = `The body took more than ${ms} ms to arrive.`;
    const late = setTimeout(() => reject(new Refusal('request timeout', text)), ms);
    read()
      .then(textOf)
      .then(resolve, reject)
      .finally(() => clearTimeout(late));
  });
}

function textOf(parts: readonly Buffer[]): string | undefined {
  const [first] = parts;
  const whole = parts.length > 1 ? Buffer.concat(parts) : first;
  return whole && (isUtf8(whole) ? whole.toString() : NOT_TEXT);
}

/** By events: most bodies are one chunk, for which an iterator costs more than everything else. */
function readPlain(
  request: AnyRequest,
  limits: Limits,
  reserve: (bytes: number) => void,
): Promise<readonly Buffer[]> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    const stop = (): void => {
      request.off('data', onData);
      request.off('error', fail);
      request.off('close', onClose);
    };
    const fail = (reason: unknown): void => {
      stop();
      reject(reason);
    };
    const onClose = (): void => fail(new Error('The connection was closed.'));
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      try {
        if (bytes > limits.requestBytes) throw tooLarge(limits);
        reserve(chunk.length);
        parts.push(chunk);
      } catch (reason) {
        fail(reason);
      }
    };
    request.on('data', onData);
    request.on('error', fail);
    request.on('close', onClose);
    request.once('end', () => {
      stop();
      resolve(parts);
    });
    if (request.destroyed) onClose();
  });
}

async function readGzip(
  request: AnyRequest,
  limits: Limits,
  reserve: (bytes: number) => void,
): Promise<readonly Buffer[]> {
  const gunzip = createGunzip();
  let sent = 0;
  const feeding = feed(request, gunzip, (bytes) => {
    sent += bytes;
    if (sent > limits.requestBytes) throw tooLarge(limits);
  });
  // Whichever side fails first ends both: the other's failure follows from it.
  feeding.catch((reason: unknown) => gunzip.destroy(reason as Error));
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of gunzip) {
      const chunk = part as Buffer;
      bytes += chunk.length;
      if (bytes > limits.requestBytes) throw tooLarge(limits);
      if (bytes > limits.inflatedFreeBytes && bytes > sent * limits.inflateRatio)
        throw new Refusal(
          'request too large',
          `The body inflates to more than ${limits.inflateRatio} times its size.`,
        );
      reserve(chunk.length);
      parts.push(chunk);
    }
  } catch (reason) {
    gunzip.destroy();
    if (reason instanceof Refusal || request.aborted) throw reason;
    throw new Refusal('bad request', 'The body is not valid gzip, as its header says.', {
      cause: reason,
    });
  }
  await feeding;
  return parts;
}

async function feed(
  request: AnyRequest,
  gunzip: Gunzip,
  count: (bytes: number) => void,
): Promise<void> {
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    const chunk = part as Buffer;
    // After a refusal the rest is discarded, so that the connection can be used again.
    if (gunzip.destroyed) continue;
    count(chunk.length);
    if (!gunzip.write(chunk)) {
      await new Promise<void>((resolve) => {
        gunzip.once('drain', resolve);
        gunzip.once('close', resolve);
      });
    }
  }
  gunzip.end();
}
