/**
 * The browser's store over a log and blocks. Query log and files are stored as rows, with their own transactions, so that they neither
 * lengthen the log nor make write transactions run again. Decisions: docs/decisions/0014-packed-store.md, 0003-durability-and-loss.md.
 */
import { WatchedRow } from '../../../hosts/watched-row.ts';
import { assert } from '../../../src/errors.ts';
import type { PackedLimits } from '../../../src/packed/limits.ts';
import { PackedStore, type PackedStoreOptions } from '../../../src/packed/packed-store.ts';
import {
  HOT_SPACES,
  type ReadTx,
  type Row,
  type SnapshotOptions,
  type Space,
  type WriteOptions,
  type WriteTx,
} from '../../../src/store/port.ts';
import { pause } from '../../browser/pause.ts';
import {
  birthPrefix,
  isStamp,
  lossAt,
  settleLoss,
  settleStamps,
  STAMP_KEY,
  type Loss,
  type Marker,
} from '../birth-stamp.ts';
import { acknowledgeLoss, destroyStore, type BrowserStore } from '../browser-store.ts';
import type { Connection } from '../idb-connection.ts';
import { PACKED_FORMAT, PACKED_LAYOUT } from '../layouts.ts';
import {
  ReconnectingConnection,
  type ConnectionOptions,
  type SettledDatabase,
} from '../reconnecting-connection.ts';
import { removeFormerRows } from '../move/former-rows.ts';
import { dropping } from '../native-transaction.ts';
import { RowTransactions } from '../row-transactions.ts';
import { IdbMedium } from './idb-medium.ts';
import { cachedBytesMax, IdleWork } from './idle-work.ts';
import { LogChannel } from './log-channel.ts';
import { MaintenanceLock } from './packed-locks.ts';

export interface PackedDatabaseOptions
  extends ConnectionOptions, Pick<PackedStoreOptions, 'leaseTerm'> {
  readonly limits?: Partial<PackedLimits>;
  /** After so many ms without a write, the store does its background work. */
  readonly idleMs?: number;
}

export class PackedDatabase implements BrowserStore {
  loss: Loss | undefined = undefined;
  isNew = false;
  private readonly name: string;
  private readonly options: PackedDatabaseOptions;
  private readonly connection: ReconnectingConnection;
  private readonly rows: RowTransactions;
  private readonly packed: PackedStore;
  private readonly idle: IdleWork;
  private readonly channel: LogChannel;
  private hasFormerRows = false;
  private isClosed = false;

  constructor(name: string, options: PackedDatabaseOptions) {
    const { leaseTerm, limits, idleMs } = options;
    this.name = name;
    this.options = options;
    this.connection = new ReconnectingConnection(name, PACKED_LAYOUT, PACKED_FORMAT, options);
    this.rows = new RowTransactions(this.connection);
    const maintenance = new MaintenanceLock(name);
    const cacheBytesMax = cachedBytesMax();
    this.packed = new PackedStore({
      medium: new IdbMedium(this.connection),
      pause,
      onFailure: (reason) => this.idle.onFailure(reason),
      broadcast: (appended) => this.channel.broadcast(appended),
      exclusively: (body) => maintenance.run(body),
      ...(leaseTerm && { leaseTerm }),
      ...(limits && { limits }),
      ...(cacheBytesMax !== undefined && { cacheBytesMax }),
    });
    this.idle = new IdleWork(this.packed, idleMs);
    this.channel = new LogChannel(
      name,
      () => birthPrefix(this.connection.birth),
      (appended) => this.packed.applyAppended(appended),
    );
  }

  get birth(): string {
    return this.connection.birth.birth;
  }

  async open(): Promise<void> {
    await this.connection.open((connection, outside) => this.settle(connection, outside));
    this.idle.onOpened();
    if (this.hasFormerRows) void this.removeFormerRows();
  }

  async read<T>(
    body: (tx: ReadTx) => Promise<T>,
    { spaces = HOT_SPACES, allowsStale = false }: SnapshotOptions = {},
  ): Promise<T> {
    if (areRows(spaces)) return this.rows.read(body, spaces);
    // Checks the connection first: cached data could belong to a database that no longer exists.
    const ready = this.connection.ready();
    if (ready) await ready;
    return this.packed.read(body, { spaces, allowsStale });
  }

  async write<T>(
    body: (tx: WriteTx) => Promise<T>,
    { spaces = HOT_SPACES, durability }: WriteOptions,
  ): Promise<T> {
    const { address } = this.options.head;
    const recordHead = (head: Row): void => this.connection.recordHead(head);
    if (areRows(spaces)) return this.rows.write(body, { spaces, durability }, address, recordHead);
    const ready = this.connection.ready();
    if (ready) await ready;
    let head: Row | undefined;
    const value = await this.packed.write(
      async (tx) => {
        const heads = new WatchedRow(tx, address);
        const result = await body(heads);
        head = heads.written;
        return result;
      },
      { spaces, durability },
    );
    if (head) recordHead(head);
    this.idle.onWrite();
    return value;
  }

  /** Returns one sentence for each damaged part. */
  verify(): Promise<readonly string[]> {
    return this.packed.verify();
  }

  /** Moves the log into tables now, because there may be no time later. */
  maybeFlush(): Promise<void> {
    return this.idle.maybeFlush();
  }

  async acknowledgeLoss(): Promise<void> {
    await acknowledgeLoss(this.connection);
    this.loss = undefined;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.idle.close();
    // First, so that callers that wait for a flush fail with the connection.
    await this.connection.close();
    await this.packed.close();
    // Last, because commits that are in progress are still broadcast.
    this.channel.close();
  }

  async destroy(): Promise<void> {
    this.isClosed = true;
    this.idle.close();
    await this.connection.abandon();
    await this.packed.close();
    this.channel.close();
    await destroyStore(this.name, this.options);
  }

  private async settle(
    connection: Connection,
    outside: Marker | undefined,
  ): Promise<SettledDatabase> {
    const { stores, birth: fresh } = this.connection;
    const tx = await this.connection.beginNative(connection, {
      ...STRICT,
      stores: stores.map(({ name }) => name),
      mode: 'readwrite',
    });
    const { stamp, isNew } = await settleStamps(tx, stores, outside, fresh).catch(dropping(tx));
    await tx.commit();
    const { birth } = stamp;
    this.connection.use(connection, { birth, format: PACKED_FORMAT });
    await this.packed.open();
    const head = await this.readHead();
    this.isNew = isNew;
    this.hasFormerRows = stamp.formerRows === true;
    this.loss =
      stamp.loss ?? (lossAt(stamp, head, outside) && (await this.recordLoss(head, outside)));
    return { birth, head };
  }

  /** Removes the old rows of a database that was moved. If this is interrupted, the next open continues. */
  private async removeFormerRows(): Promise<void> {
    const { connection, packed } = this;
    const isStopped = (): boolean => this.isClosed;
    await removeFormerRows({ connection, packed, pause, isStopped }).catch((reason: unknown) =>
      this.idle.onFailure(reason),
    );
  }

  private async readHead(): Promise<number> {
    const { head } = this.options;
    // A stale read is enough: the log has just been read.
    const { rows } = await this.packed.read((tx) => tx.fetch([head.address], []), KNOWN);
    return head.read(rows[0]);
  }

  private recordLoss(head: number, outside: Marker | undefined): Promise<Loss | undefined> {
    return this.connection.change({ ...STRICT, stores: ['meta'] }, async (tx) => {
      const stamp = await tx.raw('meta', STAMP_KEY);
      return isStamp(stamp) ? settleLoss(tx, stamp, head, outside) : undefined;
    });
  }
}

const KNOWN = { allowsStale: true };
const STRICT = { durability: 'strict' } as const;

const isRowSpace = (space: Space): boolean => space === 'log' || space === 'files';

/** Whether these spaces are stored as rows. */
function areRows(spaces: readonly Space[]): boolean {
  const isSome = spaces.some(isRowSpace);
  assert(
    !isSome || spaces.every(isRowSpace),
    () => `one transaction cannot cover ${spaces.join(', ')}: log and files have their own`,
  );
  return isSome;
}
