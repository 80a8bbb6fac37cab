// For servers that must be told their port before they start, some of them seconds later.
import { createServer } from 'node:net';

/** Below those that a system gives to whoever connects: else a client of another test may have got it meanwhile. */
const FIRST = 20_000;
const LAST = 32_000;
const TRIES = 100;

/** A port of loopback at which nobody listens. @returns {Promise<number>} */
export async function freePort() {
  for (let i = 0; i < TRIES; i++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
  throw new Error(`Tried ${TRIES} ports from ${FIRST} to ${LAST}; none is free.`);
}

/** @param {number} port @returns {Promise<boolean>} */
const isFree = (port) =>
  new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
