// @ts-check
/**
 * The thread of PGlite: receives and sends bytes of the PostgreSQL protocol, one message after the other. It is JavaScript
 * because Node loads the file by its path: from source in tests, from beside the bundle in the package.
 */
import { PGlite } from '@electric-sql/pglite';
import { parentPort, workerData } from 'node:worker_threads';

/** @typedef {{ type: 'ready' } | { type: 'data', bytes: Uint8Array, isLast: boolean } | { type: 'closed' }} FromThread */

const port = parentPort;
if (!port) throw new Error('This file must be started as a thread.');

/** @param {FromThread} message @param {readonly ArrayBuffer[]} [transfer] */
const send = (message, transfer = []) => port.postMessage(message, transfer);

const database = new PGlite(workerData);
try {
  await database.waitReady;
} catch (cause) {
  // PGlite's own message says only that it was aborted, or gives the error number of a file system call.
  throw new Error(
    `PostgreSQL cannot open ${workerData.dataDir}: its files are damaged or of another version, or this user may not read and write all of them, or the disk is full`,
    { cause },
  );
}

let last = Promise.resolve();

/** @param {Uint8Array} bytes */
async function run(bytes) {
  const response = await database.execProtocolRaw(bytes);
  // Copied before it is transferred: the response may be a view of the memory of PGlite.
  const copy = new Uint8Array(response);
  send({ type: 'data', bytes: copy, isLast: true }, [copy.buffer]);
}

port.on(
  'message',
  (/** @type {{ type: 'data', bytes: Uint8Array } | { type: 'close' }} */ message) => {
    last = last.then(async () => {
      if (message.type === 'data') return run(message.bytes);
      await database.close();
      send({ type: 'closed' });
      port.close();
    });
  },
);

send({ type: 'ready' });
