/**
 * The browser's store in the `rows` layout: one IndexedDB row for each row. Every call settles: it succeeds, or it is rejected with an
 * error code. Decisions: docs/decisions/0002-rows-in-indexeddb.md, 0003-durability-and-loss.md.
 */
import {
  SPACES,
  type ReadOptions,
  type ReadTx,
  type WriteOptions,
  type WriteTx,
} from '../../src/store/port.ts';
import { settleLoss, settleStamps, type Loss, type Marker } from './birth-stamp.ts';
import { acknowledgeLoss, destroyStore, type BrowserStore } from './browser-store.ts';
import type { Connection } from './idb-connection.ts';
import { ROWS_FORMAT, ROWS_LAYOUT, type Layout } from './layouts.ts';
import {
  ReconnectingConnection,
  type ConnectionOptions,
  type SettledDatabase,
} from './reconnecting-connection.ts';
import { dropping } from './native-transaction.ts';
import { RowTransactions } from './row-transactions.ts';

export interface IndexedDbStoreOptions extends ConnectionOptions {
  /** The layout in which the rows are stored. Default: the layout of new databases of rows. */
  readonly layout?: Layout;
}

export class IndexedDbStore implements BrowserStore {
  loss: Loss | undefined = undefined;
  isNew = false;
  private readonly name: string;
  private readonly options: IndexedDbStoreOptions;
  private readonly connection: ReconnectingConnection;
  private readonly rows: RowTransactions;

  constructor(name: string, options: IndexedDbStoreOptions) {
    this.name = name;
    this.options = options;
    this.connection = new ReconnectingConnection(
      name,
      options.layout ?? ROWS_LAYOUT,
      ROWS_FORMAT,
      options,
    );
    this.rows = new RowTransactions(this.connection);
  }

  get birth(): string {
    return this.connection.birth.birth;
  }

  open(): Promise<void> {
    return this.connection.open((connection, outside) => this.settle(connection, outside));
  }

  read<T>(body: (tx: ReadTx) => Promise<T>, { spaces = SPACES }: ReadOptions = {}): Promise<T> {
    return this.rows.read(body, spaces);
  }

  write<T>(
    body: (tx: WriteTx) => Promise<T>,
    { spaces = SPACES, durability }: WriteOptions,
  ): Promise<T> {
    const { connection, options } = this;
    return this.rows.write(body, { spaces, durability }, options.head.address, (head) =>
      connection.recordHead(head),
    );
  }

  async acknowledgeLoss(): Promise<void> {
    await acknowledgeLoss(this.connection);
    this.loss = undefined;
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  async destroy(): Promise<void> {
    await this.connection.abandon();
    await destroyStore(this.name, this.options);
  }

  private async settle(
    connection: Connection,
    outside: Marker | undefined,
  ): Promise<SettledDatabase> {
    const all = { spaces: SPACES, durability: 'strict' } as const;
    const { head } = this.options;
    const settling = await this.rows.begin(connection, 'readwrite', all);
    const settled = await Promise.all([
      settleStamps(settling, this.connection.stores, outside, this.connection.birth),
      settling.fetch([head.address], []),
    ])
      .then(([{ stamp, isNew }, found]) => {
        const headThere = head.read(found.rows[0]);
        const loss = settleLoss(settling, stamp, headThere, outside);
        return { birth: stamp.birth, isNew, head: headThere, loss };
      })
      .catch(dropping(settling));
    await settling.commit();
    this.isNew = settled.isNew;
    this.loss = settled.loss;
    this.connection.use(connection, { birth: settled.birth, format: ROWS_FORMAT });
    return settled;
  }
}
