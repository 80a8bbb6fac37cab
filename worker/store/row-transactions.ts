/** Transactions of the store port over rows in object stores. Each is executed exactly once, even if the connection is lost. */
import { WatchedRow } from '../../hosts/watched-row.ts';
import { Refusal } from '../../src/errors.ts';
import type {
  ReadTx,
  Row,
  RowAddress,
  Space,
  WriteOptions,
  WriteTx,
} from '../../src/store/port.ts';
import { birthPrefix, STAMP_KEY } from './birth-stamp.ts';
import type { Connection } from './idb-connection.ts';
import { IdbTransaction } from './idb-transaction.ts';
import type { ReconnectingConnection } from './reconnecting-connection.ts';
import { dropping, endedEarly } from './native-transaction.ts';

export class RowTransactions {
  private readonly connection: ReconnectingConnection;

  constructor(connection: ReconnectingConnection) {
    this.connection = connection;
  }

  read<T>(body: (tx: ReadTx) => Promise<T>, spaces: readonly Space[]): Promise<T> {
    return this.connection.run(async (connection) => {
      const tx = await this.begin(connection, 'readonly', { spaces, durability: 'relaxed' });
      try {
        // The transaction ends by itself once it has no pending requests, so it is not ended explicitly.
        return await body(tx);
      } catch (reason) {
        return dropping(tx)(reason);
      }
    });
  }

  /** @param onWritten receives the row at the address `watched` if the transaction wrote it */
  async write<T>(
    body: (tx: WriteTx) => Promise<T>,
    options: Required<WriteOptions>,
    watched: RowAddress,
    onWritten: (row: Row) => void,
  ): Promise<T> {
    const marking = this.connection.mark();
    if (marking) await marking;
    let former: { readonly tx: IdbTransaction; readonly result: () => T } | undefined;
    return this.connection.run(async (connection) => {
      if (former?.tx.failure?.mayBeCommitted && (await this.hasArrived(connection, former.tx)))
        return former.result();
      const tx = await this.begin(connection, 'readwrite', options);
      former = { tx, result: unfinished };
      const rows = new WatchedRow(tx, watched);
      const value = await this.changing(tx, () => body(rows));
      former = { tx, result: () => value };
      await tx.commit();
      if (rows.written) onWritten(rows.written);
      return value;
    });
  }

  begin(
    connection: Connection,
    mode: IDBTransactionMode,
    options: Required<WriteOptions>,
  ): Promise<IdbTransaction> {
    const birth = birthPrefix(this.connection.birth);
    const commit = this.connection.nextCommit();
    return this.connection.begin(
      connection,
      (idb, watched) => new IdbTransaction(idb, { ...options, mode, birth, commit, ...watched }),
    );
  }

  /** Rolls everything back unless the body succeeds and this is the database that was opened. */
  private async changing<T>(tx: IdbTransaction, body: () => Promise<T>): Promise<T> {
    try {
      const value = await body();
      if (tx.mustLookAtStamp)
        this.connection.requireBirth(await tx.raw(storeOfStamp(tx.plan.spaces), STAMP_KEY));
      return value;
    } catch (reason) {
      return dropping(tx)(reason);
    }
  }

  /** Whether a commit succeeded during which the connection was lost. */
  private async hasArrived(connection: Connection, former: IdbTransaction): Promise<boolean> {
    const tx = await this.begin(connection, 'readonly', META);
    const arrived = await former.hasArrived(tx);
    if (arrived !== undefined) return arrived;
    throw mayHaveArrived();
  }
}

const META: Required<WriteOptions> = { spaces: ['meta'], durability: 'relaxed' };

/** Each object store contains a stamp. A transaction can only read the object stores that it covers: `meta` is used if it is among them. */
const storeOfStamp = (spaces: readonly Space[]): Space =>
  (spaces.includes('meta') ? undefined : spaces[0]) ?? 'meta';

export const mayHaveArrived = (): Refusal =>
  new Refusal(
    'storage_unavailable',
    'The connection to the storage was lost during a commit, and others have written since, so the write may or may not be stored. Check before you write it again.',
  );

function unfinished(): never {
  throw new Error(endedEarly());
}
