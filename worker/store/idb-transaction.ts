/** A transaction of the store port over rows: one object store for each space, in one native transaction. */
import type { Key } from '../../src/codec/key.ts';
import { assert } from '../../src/errors.ts';
import {
  requireWithin,
  type Durability,
  type Found,
  type Range,
  type RowAddress,
  type Space,
  type WriteSet,
  type WriteTx,
} from '../../src/store/port.ts';
import { fetchAll } from './idb-fetch.ts';
import { storedRow } from './idb-rows.ts';
import { endedEarly, NativeTransaction, type Watched } from './native-transaction.ts';

export interface TransactionPlan extends Watched {
  readonly spaces: readonly Space[];
  readonly mode: IDBTransactionMode;
  readonly durability: Durability;
  /** Prefix of the names of commits to the database that this store opened. */
  readonly birth: string;
  /**
   * The name of the commit. It is stored in the rows of `meta` that it writes: it shows which database they belong to and, later, whether
   * the commit succeeded.
   */
  readonly commit: string;
}

export class IdbTransaction extends NativeTransaction implements WriteTx {
  readonly plan: TransactionPlan;
  /** `commitsSeen`: for each row of `meta` read here, the commit that wrote it. `mark`: the key of the first row of `meta` written here. */
  private readonly commitsSeen = new Map<Key, string | undefined>();
  private mark: Key | undefined = undefined;
  private isBorn = false;

  /** @throws TransactionFailure when the connection is closed */
  constructor(idb: IDBDatabase, plan: TransactionPlan) {
    super(idb, { ...plan, stores: plan.spaces });
    this.plan = plan;
  }

  fetch(
    rows: readonly RowAddress[],
    ranges: readonly Range[],
    bytesMax = Infinity,
  ): Promise<Found> {
    const found = this.read(rows, ranges, bytesMax);
    // Avoids an unhandled rejection: a body that fails need not await all of its requests.
    found.catch(() => undefined);
    return found;
  }

  /** Sends the writes at once, even before pending reads of the body are answered. An abort rolls them back. */
  apply({ puts, deletes }: WriteSet): void {
    this.send(() => {
      for (const { space, key } of deletes) this.storeOf(space).delete(key);
      for (const { space, row, isNew } of puts) {
        const stored = storedRow(space, row, this.plan.commit);
        if (isNew) this.storeOf(space).add(stored);
        else this.storeOf(space).put(stored);
        if (space === 'meta') this.mark ??= row.key;
      }
      this.hasWritten ||= puts.length + deletes.length > 0;
    });
  }

  /** Something was written, and no row read so far proves that this is the database that the store opened. */
  get mustLookAtStamp(): boolean {
    return this.hasWritten && !this.isBorn;
  }

  /**
   * Called in a later transaction: whether the commit of this transaction succeeded. Undefined when that cannot be determined, because
   * others have written since, or because this transaction wrote no row of `meta`.
   */
  async hasArrived(later: IdbTransaction): Promise<boolean | undefined> {
    const { mark } = this;
    if (mark === undefined) return undefined;
    await later.fetch([{ space: 'meta', key: mark }], []);
    const now = later.commitsSeen.get(mark);
    if (now === this.plan.commit) return true;
    return this.commitsSeen.has(mark) && this.commitsSeen.get(mark) === now ? false : undefined;
  }

  private async read(
    rows: readonly RowAddress[],
    ranges: readonly Range[],
    bytesMax: number,
  ): Promise<Found> {
    for (const { space } of [...rows, ...ranges]) requireWithin(this.plan.spaces, space);
    assert(!this.isComplete, endedEarly);
    return fetchAll(this, rows, ranges, bytesMax, (...read) => this.recordCommit(...read));
  }

  private recordCommit(key: Key, commit: string | undefined): void {
    this.commitsSeen.set(key, commit);
    if (commit?.startsWith(this.plan.birth) === true) this.isBorn = true;
  }

  private storeOf(space: Space): IDBObjectStore {
    requireWithin(this.plan.spaces, space);
    return this.store(space);
  }
}
