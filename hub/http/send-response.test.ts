/**
 * Long answers and long parts of streams are written over several turns of the event loop, even if their sockets accept
 * everything at once.
 */
import { expect, test } from 'vitest';
import type { AnyResponse } from '../connections/any-request.ts';
import { sendInParts, sendStream, type StreamedResponse } from './send-response.ts';

const PART = 256 * 1024;
const HEAD = { status: 200, headers: {} };

/** Records the turns of the event loop in which data are written to sockets that accept everything at once. */
function takingSockets(): { readonly turns: readonly number[]; socket: () => AnyResponse } {
  let turn = 0;
  const turns: number[] = [];
  const next = (): void => {
    turn += 1;
    if (turn < 1000) setImmediate(next).unref();
  };
  next();
  const socket = (): AnyResponse =>
    ({
      destroyed: false,
      writeHead: () => undefined,
      write: () => turns.push(turn) > 0,
      end: () => undefined,
    }) as unknown as AnyResponse;
  return { turns, socket };
}

test('several long answers are written in parts, one part per turn', async () => {
  const sockets = takingSockets();
  const send = (body: string | Uint8Array): Promise<void> =>
    sendInParts(sockets.socket(), { ...HEAD, body: '' }, body, {
      bytes: body.length,
      slowReaderMs: 1000,
    });
  await Promise.all([send('x'.repeat(4 * PART)), send(new Uint8Array(4 * PART))]);
  expect(sockets.turns).toHaveLength(8);
  // The first part of each answer is written at once.
  expect(new Set(sockets.turns).size).toBe(7);
});

test('a stream yields to others after a long part, but not after a short one', async () => {
  const sockets = takingSockets();
  async function* parts(): AsyncGenerator<string> {
    for (const length of [10, 10, PART, PART, PART]) yield 'x'.repeat(length);
  }
  const response: StreamedResponse = { ...HEAD, body: parts() };
  await sendStream(sockets.socket(), response, {
    signal: new AbortController().signal,
    slowReaderMs: 1000,
    hold: () => () => undefined,
  });
  expect(sockets.turns).toHaveLength(5);
  expect(new Set(sockets.turns).size).toBe(3);
});
