/** The port's transaction over rows: an object store for each space, one native transaction. */
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
import { requestAll, type FetchSource } from './idb-fetch.ts';
import { storedRow } from './idb-rows.ts';
import { endedEarly, NativeTransaction, type Watched } from './native-transaction.ts';

export interface TransactionPlan extends Watched {
  readonly spaces: readonly Space[];
  readonly mode: IDBTransactionMode;
  readonly durability: Durability;
  /** Of the database this store opened: what its commits' names begin with. */
  readonly birth: string;
  /** Its name marks the rows of `meta` it writes: whose they are, and later, whether the commit arrived. */
  readonly commit: string;
}

export class IdbTransaction extends NativeTransaction implements WriteTx {
  readonly plan: TransactionPlan;
  /** Commits that wrote the rows of `meta` read here, and the first such row written here. */
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
    return this.request((settle) => {
      assert(!this.isComplete, endedEarly);
      requestAll(this.source, { rows, ranges, bytesMax }, settle);
    });
  }

  /** Rows go out at once, ahead of the answers the body still waits for; an abort takes them back. */
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

  /** Something was written, and no row read so far shows that this is the database it was meant for. */
  get mustLookAtStamp(): boolean {
    return this.hasWritten && !this.isBorn;
  }

  /**
   * Asked in a later transaction: did this one's commit arrive? Undefined: it cannot be known, for others have written since, or
   * this one has left no mark.
   */
  async hasArrived(later: IdbTransaction): Promise<boolean | undefined> {
    const { mark } = this;
    if (mark === undefined) return undefined;
    await later.fetch([{ space: 'meta', key: mark }], []);
    const now = later.commitsSeen.get(mark);
    if (now === this.plan.commit) return true;
    return this.commitsSeen.has(mark) && this.commitsSeen.get(mark) === now ? false : undefined;
  }

  private recordCommit(key: Key, commit: string | undefined): void {
    this.commitsSeen.set(key, commit);
    if (commit?.startsWith(this.plan.birth) === true) this.isBorn = true;
  }

  private readonly source: FetchSource = {
    store: (space) => this.storeOf(space),
    onResult: this.onResult,
    onMeta: (key, commit) => this.recordCommit(key, commit),
  };

  private storeOf(space: Space): IDBObjectStore {
    requireWithin(this.plan.spaces, space);
    return this.store(space);
  }
}
