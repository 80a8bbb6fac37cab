/** Test kit: a store whose n-th call fails. All other calls are passed on to another store. */
import { Refusal } from '../../errors.ts';
import type { ReadOptions, ReadTx, Store, WriteOptions, WriteTx } from '../port.ts';

export class FailingStore implements Store {
  private readonly store: Store;
  /** Number of begins, fetches, applies and commits so far. */
  calls = 0;
  /** The call that fails, counted from 1. Undefined: none. */
  failAt: number | undefined = undefined;
  /** Makes the error with which it fails. */
  makeReason: (call: number) => unknown = (call) =>
    new Refusal('storage_unavailable', `Call ${call} of the store failed, as planned.`);

  constructor(store: Store) {
    this.store = store;
  }

  /** Restarts the count. The n-th call from now on fails. */
  failNth(n: number | undefined): void {
    this.calls = 0;
    this.failAt = n;
  }

  async read<T>(body: (tx: ReadTx) => Promise<T>, options?: ReadOptions): Promise<T> {
    this.count();
    return this.store.read((tx) => body(this.reader(tx)), options);
  }

  async write<T>(body: (tx: WriteTx) => Promise<T>, options: WriteOptions): Promise<T> {
    this.count();
    return this.store.write(async (tx) => {
      const apply: WriteTx['apply'] = (writes) => {
        this.count();
        tx.apply(writes);
      };
      const value = await body({ ...this.reader(tx), apply });
      this.count();
      return value;
    }, options);
  }

  close(): Promise<void> {
    return this.store.close();
  }

  private reader(tx: ReadTx): ReadTx {
    return {
      fetch: async (...asked) => {
        this.count();
        return tx.fetch(...asked);
      },
    };
  }

  private count(): void {
    this.calls += 1;
    if (this.calls === this.failAt) throw this.makeReason(this.calls);
  }
}
