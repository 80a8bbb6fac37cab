// @ts-check
/**
 * The thread of PGlite: receives and sends bytes of the PostgreSQL protocol, one message after the other. It is JavaScript
 * because Node loads the file by its path: from source in tests, from beside the bundle in the package.
 */
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { exit } from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';

/** @typedef {{ type: 'ready' } | { type: 'data', bytes: Uint8Array, isLast: boolean } | { type: 'closed' }} FromThread */

const port = parentPort;
if (!port) throw new Error('This file must be started as a thread.');

/** @param {FromThread} message @param {readonly ArrayBuffer[]} [transfer] */
const send = (message, transfer = []) => port.postMessage(message, transfer);

const MEMORY = 'memory:';
const IS_WINDOWS = process.platform === 'win32';

/** `-F` turns `fsync` off. PGlite ignores `fdatasync`, with which PostgreSQL would write its log. */
const SYNCED = [
  ...PGlite.defaultStartParams.filter((each) => each !== '-F'),
  '-c',
  'wal_sync_method=fsync',
];

/** Writes files to the disk when PostgreSQL asks for it, which PGlite's own `NodeFS` does not. */
class SyncedFolder extends NodeFS {
  /**
   * Files that were last changed before this time (ms) are on the disk. After a kill, PostgreSQL would sync all thousand files: two
   * seconds.
   */
  #syncedMs;

  #isNew;

  /** @param {string} folder */
  constructor(folder) {
    super(folder);
    this.#isNew = !existsSync(join(folder, 'PG_VERSION'));
    this.#syncedMs = checkpointMs(folder);
  }

  /** @override @type {NodeFS['init']} */
  async init(database, options) {
    const { emscriptenOpts } = await super.init(database, options);
    /** @param {any} module its types do not have the operations of a file system */
    const addSync = ({ NODEFS }) => {
      /** @param {{ nfd: number }} stream */
      NODEFS.stream_ops.fsync = ({ nfd }) => NODEFS.tryFSOperation(() => this.#sync(nfd));
    };
    const preRun = [...(emscriptenOpts.preRun ?? []), addSync];
    return { emscriptenOpts: { ...emscriptenOpts, preRun } };
  }

  /** Called when the database is open. */
  opened() {
    if (this.#isNew) this.#syncAll();
    // Clocks may be set back.
    this.#syncedMs = 0;
  }

  /** Writes all files to the disk: those of a new database were written by `initdb`, which does not sync them. */
  #syncAll() {
    const entries = readdirSync(this.rootDir, { recursive: true, withFileTypes: true });
    for (const entry of entries)
      if (entry.isFile()) syncAt(join(entry.parentPath, entry.name), 'r+');
    // Windows cannot sync folders.
    if (IS_WINDOWS) return;
    syncAt(this.rootDir, 'r');
    for (const entry of entries)
      if (entry.isDirectory()) syncAt(join(entry.parentPath, entry.name), 'r');
  }

  /** @param {number} file */
  #sync(file) {
    const found = fstatSync(file);
    if (IS_WINDOWS && !found.isFile()) return;
    if (found.mtimeMs >= this.#syncedMs) fdatasyncSync(file);
  }
}

/** @param {string} path @param {string} flags */
function syncAt(path, flags) {
  const file = openSync(path, flags);
  fdatasyncSync(file);
  closeSync(file);
}

/**
 * The time of the last checkpoint, which has synced whatever was written before. 0 if there was none, or if the clock was set back
 * since then.
 * @param {string} folder
 */
function checkpointMs(folder) {
  const control = statSync(join(folder, 'global/pg_control'), { throwIfNoEntry: false });
  const atMs = control?.mtimeMs ?? 0;
  return atMs < Date.now() ? atMs : 0;
}

const { dataDir } = workerData;
const folder = dataDir.startsWith(MEMORY) ? undefined : new SyncedFolder(dataDir);
const database = new PGlite(folder ? { fs: folder, startParams: SYNCED } : workerData);
try {
  await database.waitReady;
  folder?.opened();
} catch (cause) {
  // PGlite's own message says only that it was aborted, or gives the error number of a file system call.
  throw new Error(
    `PostgreSQL cannot open ${dataDir}: its files are damaged or of another version, or this user may not read and write all of them, or the disk is full`,
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
      // Not `port.close()`, which Deno does not have.
      exit();
    });
  },
);

send({ type: 'ready' });
