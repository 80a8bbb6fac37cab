/** Reads the body of a request within its bounds: size, compression ratio, time, and what all requests hold together. */
import { isUtf8 } from 'node:buffer';
import { createGunzip, type Gunzip } from 'node:zlib';
import { Refusal } from '../../src/errors.ts';
import type { HubLimits } from '../settings/settings.ts';
import type { AnyRequest } from './acceptor.ts';

/** Bytes of bodies in memory. */
export class BodyMemory {
  private readonly max: number;
  used = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** @throws Refusal */
  take(bytes: number): void {
    if (this.used + bytes > this.max) {
      throw new Refusal('storage_blocked', 'The hub is reading too much at once: try again.');
    }
    this.used += bytes;
  }

  give(bytes: number): void {
    this.used -= bytes;
  }
}

export interface ReadBody {
  readonly text: string | undefined;
  /** Call it when the request is answered. */
  readonly release: () => void;
}

type Limits = Pick<HubLimits, 'requestBytes' | 'inflateRatio' | 'inflatedFreeBytes' | 'requestMs'>;

/** In the place of bytes that are no UTF-8: whoever looks for JSON finds none, as there is none. */
const NO_TEXT = '\uFFFD';

/** The caller went away while its body was read: there is nobody to answer. */
export class Gone extends Error {}

/** @throws Refusal, Gone */
export async function readBody(
  request: AnyRequest,
  limits: Limits,
  memory: BodyMemory,
): Promise<ReadBody> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limits.requestBytes) throw tooLarge(limits);
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  let held = 0;
  let isOver = false;
  const take = (bytes: number): void => {
    if (isOver) throw new Gone('The request was answered before its body came.');
    memory.take(bytes);
    held += bytes;
  };
  const release = (): void => {
    memory.give(held);
    held = 0;
  };
  try {
    const text = await within(limits.requestMs, () => {
      if (encoding === 'identity' || encoding === '') return readPlain(request, limits, take);
      if (encoding === 'gzip' || encoding === 'x-gzip') return readGzip(request, limits, take);
      throw new Refusal(
        'bad request',
        `Bodies are taken as they are or as gzip, not as ${encoding.slice(0, 32)}.`,
      );
    });
    return { text, release };
  } catch (reason) {
    isOver = true;
    release();
    if (reason instanceof Refusal) throw reason;
    throw new Gone('The request ended before its body.', { cause: reason });
  }
}

const tooLarge = ({ requestBytes }: Limits): Refusal =>
  new Refusal('request too large', `The body is larger than ${requestBytes} bytes.`);

/** What is late goes on until the connection ends, and may take nothing more. */
function within(ms: number, work: () => Promise<readonly Buffer[]>): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const text = `The body took more than ${ms} ms to come.`;
    const late = setTimeout(() => reject(new Refusal('request timeout', text)), ms);
    const fail = (reason: unknown): void => {
      clearTimeout(late);
      reject(reason);
    };
    let reading: Promise<readonly Buffer[]>;
    try {
      reading = work();
    } catch (reason) {
      fail(reason);
      return;
    }
    reading.then((parts) => {
      clearTimeout(late);
      const [first] = parts;
      const whole = parts.length > 1 ? Buffer.concat(parts) : first;
      resolve(whole && (isUtf8(whole) ? whole.toString() : NO_TEXT));
    }, fail);
  });
}

/** By events: most bodies are one part, for which an iterator costs more than all the rest. */
function readPlain(
  request: AnyRequest,
  limits: Limits,
  take: (bytes: number) => void,
): Promise<readonly Buffer[]> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    const end = (): void => {
      request.off('data', hear);
      request.off('error', fail);
      request.off('close', leave);
    };
    const fail = (reason: unknown): void => {
      end();
      reject(reason);
    };
    const leave = (): void => fail(new Error('The connection was closed.'));
    const hear = (chunk: Buffer): void => {
      bytes += chunk.length;
      try {
        if (bytes > limits.requestBytes) throw tooLarge(limits);
        take(chunk.length);
        parts.push(chunk);
      } catch (reason) {
        fail(reason);
      }
    };
    request.on('data', hear);
    request.on('error', fail);
    request.on('close', leave);
    request.once('end', () => {
      end();
      resolve(parts);
    });
    if (request.destroyed) leave();
  });
}

async function readGzip(
  request: AnyRequest,
  limits: Limits,
  take: (bytes: number) => void,
): Promise<readonly Buffer[]> {
  const gunzip = createGunzip();
  let sent = 0;
  const feeding = feed(request, gunzip, (bytes) => {
    sent += bytes;
    if (sent > limits.requestBytes) throw tooLarge(limits);
  });
  // Whoever fails first ends both; the other's failure follows from it.
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
      take(chunk.length);
      parts.push(chunk);
    }
  } catch (reason) {
    gunzip.destroy();
    if (reason instanceof Refusal || request.aborted) throw reason;
    throw new Refusal('bad request', 'The body is not the gzip that its header promises.', {
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
    // What comes after a refusal is thrown away, so that the connection can be used again.
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
