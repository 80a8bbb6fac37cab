/** Stores the files of a database in a separate IndexedDB database, because chunks are larger than the query store is made for. */
import { Dexie } from 'dexie';
import type { FileRecord, FileStore } from '../../src/sync/device/files/file-store.ts';
import type { FileName } from '../../src/sync/protocol/files.ts';
import { deleteDatabase } from '../store/idb-connection.ts';
import { closed } from '../queries/long-queries.ts';
import { refusalOf } from '../store/idb-failure.ts';

/** Where a host stores the files of its databases. */
export interface FileStorage {
  /** Opened by the first call, because most databases have no files. */
  readonly openFiles: (database: string) => OpenedFiles;
  /** Deletes the files of a database. */
  readonly forgetFiles: (database: string) => Promise<void>;
}

export interface OpenedFiles extends FileStore {
  /** Whether any file was ever stored. Check this first, so that nothing is created for a database without files. */
  isUsed(): Promise<boolean>;
  /** Closes for good: calls that are still in progress must not recreate deleted files. */
  close(): void;
}

interface Chunk {
  readonly file: FileName;
  readonly n: number;
  readonly bytes: Uint8Array;
}

const FILES = 'files';
const CHUNKS = 'chunks';
const filesName = (database: string): string => `${database}:files`;

export const browserFiles: FileStorage = {
  openFiles: (database) => new IdbFiles(filesName(database)),
  // A frozen tab may block the deletion. Then it fails with an error, as the deletion of the database itself does.
  forgetFiles: (database) => deleteDatabase(filesName(database)),
};

class IdbFiles implements OpenedFiles {
  private readonly name: string;
  private opened: Promise<Dexie> | undefined = undefined;
  private isClosed = false;

  constructor(name: string) {
    this.name = name;
  }

  async isUsed(): Promise<boolean> {
    if (this.opened) return true;
    // Where databases cannot be listed, it is assumed to exist, and is created by the first read.
    const known = (await indexedDB.databases?.()) ?? [{ name: this.name }];
    return known.some(({ name }) => name === this.name);
  }

  close(): void {
    const { opened } = this;
    this.isClosed = true;
    this.opened = undefined;
    opened?.then(
      (database) => database.close(),
      () => undefined,
    );
  }

  record(file: FileName): Promise<FileRecord | undefined> {
    return this.read<FileRecord | undefined>(FILES, (files) => files.get(file));
  }

  records(): Promise<readonly FileRecord[]> {
    return this.read<FileRecord[]>(FILES, (files) => files.getAll());
  }

  async chunk(file: FileName, n: number): Promise<Uint8Array | undefined> {
    const found = await this.read<Chunk | undefined>(CHUNKS, (chunks) => chunks.get([file, n]));
    return found?.bytes;
  }

  putChunk(file: FileName, n: number, bytes: Uint8Array): Promise<void> {
    return this.write((tx) => {
      tx.objectStore(CHUNKS).put({ file, n, bytes } satisfies Chunk);
      return () => undefined;
    });
  }

  update(file: FileName, change: Parameters<FileStore['update']>[1]) {
    return this.write((tx) => {
      const files = tx.objectStore(FILES);
      let result: FileRecord | undefined;
      then(files.get(file) as IDBRequest<FileRecord | undefined>, (before) => {
        const next = change(before);
        if (next) files.put(next);
        result = next ?? before;
      });
      return () => result;
    });
  }

  remove(file: FileName, isStill: (record: FileRecord) => boolean): Promise<boolean> {
    return this.write((tx) => {
      const files = tx.objectStore(FILES);
      let isRemoved = false;
      then(files.get(file) as IDBRequest<FileRecord | undefined>, (record) => {
        if (!record || !isStill(record)) return;
        isRemoved = true;
        files.delete(file);
        tx.objectStore(CHUNKS).delete(IDBKeyRange.bound([file], [file, []]));
      });
      return () => isRemoved;
    });
  }

  private async read<T>(
    store: typeof FILES | typeof CHUNKS,
    ask: (store: IDBObjectStore) => IDBRequest,
  ): Promise<T> {
    return settled(await this.begin([store], 'readonly'), (tx) => {
      const request = ask(tx.objectStore(store)) as IDBRequest<T>;
      return () => request.result;
    });
  }

  private async write<T>(begin: (tx: IDBTransaction) => () => T): Promise<T> {
    return settled(await this.begin([FILES, CHUNKS], 'readwrite'), begin);
  }

  private async begin(stores: string[], mode: IDBTransactionMode): Promise<IDBTransaction> {
    if (this.isClosed) throw closed();
    this.opened ??= opened(this.name, () => {
      this.opened = undefined;
    });
    try {
      const idb = (await this.opened).backendDB();
      // `strict`: a file for which `put()` has resolved survives a power failure.
      return idb.transaction(stores, mode, { durability: 'strict' });
    } catch (reason) {
      this.opened = undefined;
      throw refusalOf(reason);
    }
  }
}

/** @param onClosed called when the browser, or a tab that deletes the database, has closed it: the next call reopens it */
async function opened(name: string, onClosed: () => void): Promise<Dexie> {
  const database = new Dexie(name, { autoOpen: false, cache: 'disabled' });
  database.version(1).stores({ [FILES]: 'file', [CHUNKS]: '[file+n]' });
  await database.open();
  const idb = database.backendDB();
  idb.addEventListener('close', onClosed);
  idb.addEventListener('versionchange', () => {
    onClosed();
    database.close();
  });
  return database;
}

function then<T>(request: IDBRequest<T>, use: (value: T) => void): void {
  request.addEventListener('success', () => use(request.result));
}

/** Resolves, when the transaction is complete, with the result of the function that `begin` returns. @throws Refusal */
function settled<T>(tx: IDBTransaction, begin: (tx: IDBTransaction) => () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const result = begin(tx);
    tx.addEventListener('complete', () => resolve(result()));
    let failure: DOMException | null = null;
    // WebKit sets the reason only on the request.
    tx.addEventListener('error', ({ target }) => {
      failure = (target as IDBRequest).error;
    });
    tx.addEventListener('abort', () => reject(refusalOf(tx.error ?? failure)));
  });
}
