// @ts-check
/**
 * The thread of PGlite: bytes of the Postgres wire in, bytes out, one message after the other. JavaScript, for Node starts it by
 * its file, from source in tests and beside the bundle in the package.
 */
import { PGlite } from '@electric-sql/pglite';
import { parentPort, workerData } from 'node:worker_threads';

/** @typedef {{ type: 'ready' } | { type: 'data', bytes: Uint8Array, isLast: boolean } | { type: 'closed' }} FromThread */

const port = parentPort;
if (!port) throw new Error('This file is started as a thread.');

/** @param {FromThread} message @param {readonly ArrayBuffer[]} [transfer] */
const tell = (message, transfer = []) => port.postMessage(message, transfer);

const database = new PGlite({ dataDir: workerData.dataDir });
await database.waitReady;

let last = Promise.resolve();

/** @param {Uint8Array} bytes */
async function run(bytes) {
  const answer = await database.execProtocolRaw(bytes);
  // A copy: the answer may lie in the memory of the database.
  const copy = new Uint8Array(answer);
  tell({ type: 'data', bytes: copy, isLast: true }, [copy.buffer]);
}

port.on(
  'message',
  (/** @type {{ type: 'data', bytes: Uint8Array } | { type: 'close' }} */ message) => {
    last = last.then(async () => {
      if (message.type === 'data') return run(message.bytes);
      await database.close();
      tell({ type: 'closed' });
      port.close();
    });
  },
);

tell({ type: 'ready' });
