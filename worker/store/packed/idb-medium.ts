/** The medium of a packed store over IndexedDB: log and blocks are object stores, each call is one native transaction. */
import type {
  BlockRange,
  LogPart,
  Look,
  Medium,
  StoredBlock,
  Trim,
} from '../../../src/packed/medium.ts';
import type { Durability } from '../../../src/store/port.ts';
import { TransactionFailure } from '../idb-failure.ts';

/** Object stores, as Dexie declares them: the key generator of the log numbers its parts. */
export const PACKED_LAYOUT = { commits: '++n', blocks: 'i' };

interface StoredPart {
  readonly n: number;
  readonly v: Uint8Array;
}
interface StoredBlockRow {
  readonly i: number;
  readonly v: Uint8Array;
}

export class IdbMedium implements Medium {
  private readonly idb: IDBDatabase;
  private readonly onClose: () => void;

  constructor(idb: IDBDatabase, onClose: () => void) {
    this.idb = idb;
    this.onClose = onClose;
  }

  async look(after: number | undefined, ranges: readonly BlockRange[]): Promise<Look> {
    const tx = this.begin(after === undefined ? ['blocks'] : ['commits', 'blocks'], 'readonly');
    const asked: [Promise<readonly LogPart[]>, ...Promise<readonly StoredBlock[]>[]] = [
      after === undefined ? Promise.resolve([]) : partsAfter(tx, after),
      ...ranges.map((range) => blocksIn(tx, range)),
    ];
    const [log, ...blocks] = await Promise.all(asked);
    return { log, blocks };
  }

  append(parts: readonly Uint8Array[], expected: number, durability: Durability): Promise<boolean> {
    const tx = this.begin(['commits'], 'readwrite', durability);
    const log = tx.objectStore('commits');
    let isTaken = false;
    for (const [at, v] of parts.entries()) {
      const added = log.add({ v });
      added.addEventListener('success', () => {
        if (isTaken || added.result === expected + at) return;
        isTaken = true;
        tx.abort();
      });
    }
    return ended(tx).then(
      () => true,
      (reason: unknown) => {
        if (isTaken) return false;
        throw reason;
      },
    );
  }

  async putBlocks(blocks: readonly StoredBlock[]): Promise<void> {
    const tx = this.begin(['blocks'], 'readwrite');
    const store = tx.objectStore('blocks');
    for (const { id, bytes } of blocks) store.put({ i: id, v: bytes });
    await ended(tx);
  }

  async trim({ logThrough, blocks }: Trim): Promise<void> {
    const tx = this.begin(['commits', 'blocks'], 'readwrite');
    tx.objectStore('commits').delete(IDBKeyRange.upperBound(logThrough));
    for (const { first, last } of blocks)
      tx.objectStore('blocks').delete(IDBKeyRange.bound(first, last));
    await ended(tx);
  }

  async close(): Promise<void> {
    this.onClose();
  }

  private begin(
    stores: readonly string[],
    mode: IDBTransactionMode,
    durability: Durability = 'relaxed',
  ): IDBTransaction {
    try {
      return this.idb.transaction(stores, mode, { durability });
    } catch (reason) {
      throw new TransactionFailure(reason, false);
    }
  }
}

async function partsAfter(tx: IDBTransaction, after: number): Promise<readonly LogPart[]> {
  const range = IDBKeyRange.lowerBound(after, true);
  const found = await result<StoredPart[]>(tx.objectStore('commits').getAll(range));
  return found.map(({ n, v }) => ({ number: n, bytes: v }));
}

async function blocksIn(
  tx: IDBTransaction,
  { first, last, limit }: BlockRange,
): Promise<readonly StoredBlock[]> {
  const store = tx.objectStore('blocks');
  if (first === last) {
    const row = await result<StoredBlockRow | undefined>(store.get(first));
    return row ? [{ id: row.i, bytes: row.v }] : [];
  }
  const rows = await result<StoredBlockRow[]>(store.getAll(IDBKeyRange.bound(first, last), limit));
  return rows.map(({ i, v }) => ({ id: i, bytes: v }));
}

const result = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(new TransactionFailure(request.error, false)));
  });

/** WebKit tells why on the request alone: an error bubbles from there, ahead of the abort. */
const ended = (tx: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    let failed: DOMException | null = null;
    tx.addEventListener('error', ({ target }) => {
      if (target instanceof IDBRequest) failed ??= target.error;
    });
    tx.addEventListener('complete', () => resolve());
    tx.addEventListener('abort', () => reject(new TransactionFailure(tx.error ?? failed, false)));
  });
