/**
 * Reads a request body within limits: size, compression ratio, total time, speed, and the memory that all bodies share. A body
 * larger than `smallBodyBytes` is only read if the credential of the caller is valid.
 */
import { createGunzip, type Gunzip } from 'node:zlib';
import { Refusal } from '../../src/errors.ts';
import type { HubSettings } from '../settings/settings.ts';
import type { AnyRequest } from '../connections/any-request.ts';
import { isLong, ownBytes, type TextParts } from '../evaluators/text-parts.ts';
import type { BodyShare } from './body-memory.ts';
import { BodyParts } from './body-parts.ts';
import { pauseForTurn, TURN_BYTES, turnCost } from './paced-reading.ts';

export interface RequestBody {
  /** No parts if the body is empty or missing. */
  readonly parts: TextParts;
  /** Must be called when the request is answered. */
  readonly release: () => void;
}

export interface ReadBodyOptions {
  readonly limits: Pick<
    HubSettings,
    | 'inflateRatio'
    | 'inflatedFreeBytes'
    | 'requestMs'
    | 'bodyBytesPerMs'
    | 'bodyWindowMs'
    | 'bodyWindowBytes'
    | 'smallBodyBytes'
  >;
  readonly bytesMax: number;
  readonly memory: BodyShare;
  /** Address of the sender. */
  readonly address: string;
  /** Called once, before more than `smallBodyBytes` are read. @throws Refusal when the caller may not send more */
  readonly admitLarge: () => Promise<void>;
}

/** The client disconnected while its body was read, so nobody waits for a response. */
export class ClientGone extends Error {}

/** @throws Refusal, ClientGone */
export async function readBody(
  request: AnyRequest,
  options: ReadBodyOptions,
): Promise<RequestBody> {
  const reading = new BodyReading(request, options);
  const release = (): void => options.memory.release();
  try {
    const parts = await reading.whole();
    return { parts: isLong(parts) ? parts.map(ownBytes) : parts, release };
  } catch (reason) {
    reading.isOver = true;
    release();
    if (reason instanceof Refusal) throw reason;
    throw new ClientGone('The request ended before its body.', { cause: reason });
  }
}

class BodyReading {
  private readonly request: AnyRequest;
  private readonly options: ReadBodyOptions;
  /** Bytes received so far, before decompression. */
  private received = 0;
  private isAdmitted = false;
  /** The request was answered: data that still arrive reserve no memory. */
  isOver = false;

  constructor(request: AnyRequest, options: ReadBodyOptions) {
    this.request = request;
    this.options = options;
  }

  async whole(): Promise<TextParts> {
    const { headers } = this.request;
    const { bytesMax, limits } = this.options;
    const declared = Number(headers['content-length'] ?? 0);
    if (declared > bytesMax) throw this.tooLarge();
    if (declared > limits.smallBodyBytes) await this.admit();
    const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
    return this.inTime(() => this.parts(encoding));
  }

  private async parts(encoding: string): Promise<TextParts> {
    if (encoding === 'identity' || encoding === '') return this.readPlain();
    if (encoding === 'gzip' || encoding === 'x-gzip') return this.readGzip();
    const shown = encoding.slice(0, 32);
    throw new Refusal('bad request', `Unknown content encoding ${shown}: only gzip is supported.`);
  }

  private admit(): Promise<void> {
    this.isAdmitted = true;
    return this.options.admitLarge();
  }

  private needsAdmission(bytes: number): boolean {
    return !this.isAdmitted && bytes > this.options.limits.smallBodyBytes;
  }

  private reserve(bytes: number): void {
    if (this.isOver) throw new ClientGone('The request was answered before its body arrived.');
    this.options.memory.reserve(bytes);
  }

  private tooLarge(): Refusal {
    const { bytesMax } = this.options;
    return new Refusal('request too large', `The body is larger than ${bytesMax} bytes.`);
  }

  /** Rejects after a deadline. Reading then continues until the connection ends, but reserves no more memory. */
  private inTime<T>(read: () => Promise<T>): Promise<T> {
    const { requestMs, bodyBytesPerMs, bodyWindowMs, bodyWindowBytes } = this.options.limits;
    const begun = performance.now();
    return new Promise((resolve, reject) => {
      const refuse = (text: string): void => reject(new Refusal('request timeout', text));
      const check = (): void => {
        const end = begun + requestMs + this.received / bodyBytesPerMs;
        const leftMs = end - performance.now();
        if (leftMs > 0) late = setTimeout(check, leftMs);
        else
          refuse(
            `The body may take ${requestMs} ms to arrive, and 1 ms more for each ${bodyBytesPerMs} bytes.`,
          );
      };
      let late = setTimeout(check, requestMs);
      let before = 0;
      const pace = setInterval(() => {
        if (this.received - before < bodyWindowBytes)
          refuse(`Less than ${bodyWindowBytes} bytes of the body arrived in ${bodyWindowMs} ms.`);
        before = this.received;
      }, bodyWindowMs);
      read()
        .then(resolve, reject)
        .finally(() => {
          clearTimeout(late);
          clearInterval(pace);
        });
    });
  }

  /** Uses events: most bodies are a single chunk, for which an async iterator would cost more than everything else. */
  private readPlain(): Promise<TextParts> {
    const { request } = this;
    return new Promise((resolve, reject) => {
      const parts = new BodyParts();
      let turnBytes = 0;
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
      const onData = (chunk: Buffer<ArrayBuffer>): void => {
        try {
          this.count(chunk.length);
          this.reserve(chunk.length);
          parts.add(chunk);
          turnBytes += turnCost(chunk);
          if (this.needsAdmission(this.received)) {
            request.pause();
            this.admit().then(() => request.resume(), fail);
          } else if (turnBytes >= TURN_BYTES) {
            turnBytes = 0;
            pauseForTurn(request, this.options.address);
          }
        } catch (reason) {
          fail(reason);
        }
      };
      request.on('data', onData);
      request.on('error', fail);
      request.on('close', onClose);
      request.once('end', () => {
        stop();
        resolve(parts.whole());
      });
      if (request.destroyed) onClose();
    });
  }

  private count(bytes: number): void {
    this.received += bytes;
    if (this.received > this.options.bytesMax) throw this.tooLarge();
  }

  private async readGzip(): Promise<TextParts> {
    const gunzip = createGunzip();
    const feeding = this.feed(gunzip);
    // The side that fails first ends the other one, whose error is only a consequence.
    feeding.catch((reason: unknown) => gunzip.destroy(reason as Error));
    const parts = new BodyParts();
    try {
      for await (const part of gunzip) {
        const chunk = part as Buffer<ArrayBuffer>;
        this.checkInflated(parts.bytes + chunk.length);
        this.reserve(chunk.length);
        parts.add(chunk);
        if (this.needsAdmission(parts.bytes)) await this.admit();
      }
    } catch (reason) {
      gunzip.destroy();
      if (reason instanceof Refusal || this.request.aborted) throw reason;
      throw new Refusal('bad request', 'The body is not valid gzip, as its header says.', {
        cause: reason,
      });
    }
    await feeding;
    return parts.whole();
  }

  private checkInflated(bytes: number): void {
    const { bytesMax, limits } = this.options;
    const { inflatedFreeBytes, inflateRatio } = limits;
    if (bytes > bytesMax) throw this.tooLarge();
    if (bytes > inflatedFreeBytes && bytes > this.received * inflateRatio)
      throw new Refusal(
        'request too large',
        `The body inflates to more than ${inflateRatio} times its size.`,
      );
  }

  private async feed(gunzip: Gunzip): Promise<void> {
    for await (const part of this.request.iterator({ destroyOnReturn: false })) {
      const chunk = part as Buffer;
      // After a refusal the rest is discarded, so that the connection can be used again.
      if (gunzip.destroyed) continue;
      this.count(chunk.length);
      if (!gunzip.write(chunk)) await drainedOrClosed(gunzip);
    }
    gunzip.end();
  }
}

function drainedOrClosed(gunzip: Gunzip): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      gunzip.off('drain', done);
      gunzip.off('close', done);
      resolve();
    };
    gunzip.on('drain', done);
    gunzip.on('close', done);
  });
}
