// @ts-check
/**
 * The thread of PGlite: bytes of the PostgreSQL protocol in and out, one message after the other. JavaScript, because Node starts
 * it by its file: from source in tests, beside the bundle in the package.
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
  // Itself it says that it was aborted, or the number of an error of a file system.
  throw new Error(
    `PostgreSQL cannot open ${workerData.dataDir}: its files are damaged or of another version, or this user may not read and write all of them, or the disk is full`,
    { cause },
  );
}

let last = Promise.resolve();

/** @param {Uint8Array} bytes */
async function run(bytes) {
  const response = await database.execProtocolRaw(bytes);
  // A copy: the response may be in the memory of the database.
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
