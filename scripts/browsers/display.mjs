// A virtual screen, for a browser that has no headless mode.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';

/** @typedef {{ env: Record<string, string>; close: () => Promise<void> }} Display */

/**
 * Starts an X server, which picks a free display number. Only processes that can read `keyFile` can connect to it.
 * @param {string} keyFile @returns {Promise<Display>}
 */
export async function startDisplay(keyFile) {
  writeFileSync(keyFile, keyForAnyNumber(randomBytes(16)), { mode: 0o600 });
  const server = spawn(
    'Xvfb',
    ['-displayfd', '3', '-nolisten', 'tcp', '-screen', '0', '1280x1024x24', '-auth', keyFile],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] },
  );
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => {
    server.once('exit', () => resolve());
    server.once('error', () => resolve());
  });
  const number = await Promise.race([firstLine(server.stdio[3]), ended]);
  if (number === undefined || number === '') throw new Error('Xvfb did not start.');
  return {
    env: { DISPLAY: `:${number}`, XAUTHORITY: keyFile },
    close: async () => {
      server.kill();
      await ended;
    },
  };
}

/** @param {import('node:stream').Writable | import('node:stream').Readable | null | undefined} stream @returns {Promise<string>} */
async function firstLine(stream) {
  let text = '';
  if (stream && 'read' in stream)
    for await (const chunk of stream) {
      text += String(chunk);
      if (text.includes('\n')) break;
    }
  return text.trim();
}

/** An X authority file with one entry, valid for any host and any display number. @param {Buffer} key */
function keyForAnyNumber(key) {
  const name = Buffer.from('MIT-MAGIC-COOKIE-1');
  const field = (/** @type {Buffer} */ bytes) => Buffer.concat([size(bytes.length), bytes]);
  return Buffer.concat([
    size(ANY_MACHINE),
    field(Buffer.alloc(0)),
    field(Buffer.alloc(0)),
    field(name),
    field(key),
  ]);
}

const ANY_MACHINE = 0xffff;

/** @param {number} value */
function size(value) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
