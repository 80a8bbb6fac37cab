/** Fills an empty store with rows. While it is incomplete, a mark keeps hubs from opening the store. */
import type { RowAddress, Store } from '../../src/store/port.ts';
import { HUB_ROWS, markLoading, put } from '../store/hub-rows.ts';
import { OperationFault } from './operation-fault.ts';
import { readAllRows, type StoredRow } from './stored-rows.ts';

const BATCH_CHARS = 2 * 1024 * 1024;
const BATCH_ROWS = 500;
const WRITE = { durability: 'strict' } as const;

export class StoreFiller {
  private readonly store: Store;
  private batch: StoredRow[] = [];
  private chars = 0;
  written = 0;

  constructor(store: Store) {
    this.store = store;
  }

  /** @throws OperationFault when the store contains anything except the rows of an interrupted attempt */
  async begin(): Promise<void> {
    const found = await this.store.read((tx) => tx.fetch([HUB_ROWS.loading], []));
    if (found.rows[0]) await removeAll(this.store);
    else await requireEmpty(this.store);
    await this.store.write(async (tx) => markLoading(tx), WRITE);
  }

  async add(row: StoredRow): Promise<void> {
    this.batch.push(row);
    this.chars += row.row.value.length + row.row.key.length;
    if (this.batch.length >= BATCH_ROWS || this.chars >= BATCH_CHARS) await this.flush();
  }

  async flush(): Promise<void> {
    const puts = this.batch;
    this.batch = [];
    this.chars = 0;
    if (puts.length === 0) return;
    await this.store.write(async (tx) => tx.apply({ puts, deletes: [] }), WRITE);
    this.written += puts.length;
  }

  /** Stores the remaining rows and removes the mark, so that hubs may open the store. @param more rows of the hub itself */
  async end(epoch: string, more: readonly StoredRow[] = []): Promise<void> {
    await this.flush();
    await this.store.write(async (tx) => {
      tx.apply({ puts: [put(HUB_ROWS.epoch, epoch), ...more], deletes: [HUB_ROWS.loading] });
    }, WRITE);
  }
}

async function requireEmpty(store: Store): Promise<void> {
  await readAllRows(store, async (rows) => {
    if (rows.length > 0)
      throw new OperationFault('The store is not empty: only an empty store can be filled.');
  });
}

async function removeAll(store: Store): Promise<void> {
  const left: RowAddress[] = [];
  await readAllRows(store, async (rows) => {
    for (const { space, row } of rows) left.push({ space, key: row.key });
  });
  for (let at = 0; at < left.length; at += BATCH_ROWS) {
    const deletes = left.slice(at, at + BATCH_ROWS);
    await store.write(async (tx) => tx.apply({ puts: [], deletes }), WRITE);
  }
}
