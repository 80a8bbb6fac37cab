// Finds ports for servers that must know their port before they start, possibly seconds later.
import { createServer } from 'node:net';

/**
 * Below the range that systems use for outgoing connections: otherwise another test's connection could take the port before the server
 * starts.
 */
const FIRST = 20_000;
const LAST = 32_000;
const TRIES = 100;

/** A port that is free on the loopback address. @returns {Promise<number>} */
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
