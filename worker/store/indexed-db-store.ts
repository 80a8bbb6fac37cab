/**
 * The store of a browser. Every call settles: it is done, or refused with a code.
 * Decisions: docs/decisions/0002-rows-in-indexeddb.md, 0003-durability-and-loss.md.
 */
import { WatchedRow } from '../../hosts/watched-row.ts';
import { hexOfBytes } from '../../src/codec/hex.ts';
import { Refusal } from '../../src/errors.ts';
import {
  SPACES,
  type ReadOptions,
  type ReadTx,
  type Space,
  type Store,
  type WriteOptions,
  type WriteTx,
} from '../../src/store/port.ts';
import {
  birthPrefix,
  forgetLoss,
  replaced,
  requireBirth,
  settleBirth,
  STAMP_KEY,
  type Birth,
  type Loss,
  type Marker,
} from './birth-stamp.ts';
import { random } from '../browser/random.ts';
import { Checkpoint, type CheckpointOptions } from './checkpoint.ts';
import { Watchdog } from './deadline.ts';
import { connect, deleteDatabase, type Connection } from './idb-connection.ts';
import { newerDatabase, thrownFor, TransactionFailure } from './idb-failure.ts';
import { endedEarly, IdbTransaction } from './idb-transaction.ts';
import type { Migrations } from './migrations.ts';
import { openOutsideMarker } from './outside-marker.ts';
import { needsOneAtATime, UnderWay } from './under-way.ts';
import { removeMarksOf, type WriteMark } from './write-mark.ts';

/** Why a store that was open is not any more. */
export type StoreEnd = 'upgraded by another tab' | 'deleted by another tab' | 'lost';

export interface IndexedDbStoreOptions extends CheckpointOptions {
  /** From format 1 to the one that this code writes; absent: that is 1. */
  readonly migrations?: Migrations;
  /** The store has ended by itself: every later call is refused. */
  readonly onEnd?: (end: StoreEnd) => void;
  readonly openDeadlineMs?: number;
  /** Whether a transaction begins only when the one before has ended; absent: where the browser makes that necessary. */
  readonly isOneAtATime?: boolean;
  readonly watchdog?: Watchdog;
  /** Set before the first write, removed when the store is closed. */
  readonly mark?: WriteMark;
}

export interface BrowserStore extends Store {
  /** Mark of this database, made with it. */
  readonly birth: string;
  /** It was made by being opened. */
  readonly isNew: boolean;
  /** What had been lost when the store was opened; until `acknowledgeLoss()` also at the next open. */
  readonly loss: Loss | undefined;
  acknowledgeLoss(): Promise<void>;
  /** Closes the store and deletes the database and all that is kept outside it. */
  destroy(): Promise<void>;
}

const OPEN_DEADLINE_MS = 10_000;
/** A browser that has just lost its storage may lose the next connection too. */
const TRIES_MAX = 3;
const META: Required<WriteOptions> = { spaces: ['meta'], durability: 'relaxed' };

type State =
  | { readonly state: 'open'; readonly connection: Connection }
  | { readonly state: 'ended'; readonly refusal: () => Refusal };

export class IndexedDbStore implements BrowserStore {
  loss: Loss | undefined = undefined;
  isNew = false;
  private readonly name: string;
  private readonly options: IndexedDbStoreOptions;
  private readonly watchdog: Watchdog;
  private readonly format: number;
  /** Tells this store's commits from those of others. */
  private readonly opened: string;
  private commits = 0;
  private state: State = { state: 'ended', refusal: closed };
  private born: Birth;
  private reopening: Promise<Connection> | undefined = undefined;
  private readonly checkpoint: Checkpoint;
  private closing: Promise<void> | undefined = undefined;

  constructor(name: string, options: IndexedDbStoreOptions) {
    this.name = name;
    this.options = options;
    this.checkpoint = new Checkpoint(name, options);
    this.watchdog = options.watchdog ?? new Watchdog();
    this.format = 1 + (options.migrations?.count ?? 0);
    this.opened = hexOfBytes(random(8));
    this.born = { birth: hexOfBytes(random(16)), format: this.format };
  }

  get birth(): string {
    return this.born.birth;
  }

  async open(): Promise<void> {
    const outside = this.checkpoint.read();
    try {
      const connection = await this.connect();
      await this.settle(connection, await outside).catch(async (reason: unknown) => {
        await connection.close(closed);
        throw reason;
      });
    } catch (reason) {
      throw reason instanceof TransactionFailure ? thrownFor(reason) : reason;
    }
  }

  async read<T>(
    body: (tx: ReadTx) => Promise<T>,
    { spaces = SPACES }: ReadOptions = {},
  ): Promise<T> {
    return this.run(async (connection) => {
      const tx = await this.begin(connection, 'readonly', { spaces, durability: 'relaxed' });
      try {
        // It ends by itself when nothing more is asked of it: sooner than it could be told to.
        return await body(tx);
      } catch (reason) {
        tx.drop();
        throw tx.failure ?? reason;
      }
    });
  }

  async write<T>(
    body: (tx: WriteTx) => Promise<T>,
    { spaces = SPACES, durability }: WriteOptions,
  ): Promise<T> {
    const marking = this.state.state === 'open' ? this.options.mark?.set() : undefined;
    if (marking) await marking;
    let former: { readonly tx: IdbTransaction; readonly result: () => T } | undefined;
    return this.run(async (connection) => {
      if (former?.tx.failure?.mayBeCommitted && (await this.hasArrived(connection, former.tx)))
        return former.result();
      const tx = await this.begin(connection, 'readwrite', { spaces, durability });
      former = { tx, result: unfinished };
      const heads = new WatchedRow(tx, this.options.head.address);
      const value = await this.changing(tx, () => body(heads));
      former = { tx, result: () => value };
      await tx.commit();
      if (heads.written) this.checkpoint.note(heads.written);
      return value;
    });
  }

  async acknowledgeLoss(): Promise<void> {
    await this.run(async (connection) => {
      const tx = await this.begin(connection, 'readwrite', { ...META, durability: 'strict' });
      await this.changing(tx, () => forgetLoss(tx));
      await tx.commit();
    });
    this.loss = undefined;
  }

  async close(): Promise<void> {
    if (this.state.state === 'open') this.end(closed);
    await this.closing;
    await Promise.all([this.checkpoint.flush(), this.options.mark?.remove()]);
  }

  async destroy(): Promise<void> {
    if (this.state.state === 'open') this.end(closed);
    await this.closing;
    await this.checkpoint.abandon();
    await destroyStore(this.name, this.options);
  }

  private connect(): Promise<Connection> {
    const { isOneAtATime = needsOneAtATime(navigator.userAgent), openDeadlineMs } = this.options;
    const underWay = new UnderWay({ isOneAtATime, watchdog: this.watchdog });
    return connect(this.name, openDeadlineMs ?? OPEN_DEADLINE_MS, underWay, {
      onSuperseded: (by) => {
        if (this.state.state === 'ended') return;
        void this.checkpoint.abandon();
        this.end(by === 'upgrade' ? newerDatabase : deleted);
        this.options.onEnd?.(
          by === 'upgrade' ? 'upgraded by another tab' : 'deleted by another tab',
        );
      },
    });
  }

  /** Runs it on the present connection, and again on a new one when that was lost. */
  private async run<T>(attempt: (connection: Connection) => Promise<T>): Promise<T> {
    let connection = await this.connected();
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt(connection);
      } catch (reason) {
        if (!(reason instanceof TransactionFailure)) throw reason;
        if (!reason.isConnectionLoss || tries >= TRIES_MAX) throw thrownFor(reason);
        connection = await this.reconnected(connection);
      }
    }
  }

  private async connected(): Promise<Connection> {
    const { state } = this;
    if (state.state === 'ended') throw state.refusal();
    return state.connection.isLost ? this.reconnected(state.connection) : state.connection;
  }

  private async begin(
    { idb, underWay }: Connection,
    mode: IDBTransactionMode,
    options: Required<WriteOptions>,
    born = this.born,
  ): Promise<IdbTransaction> {
    const turn = underWay.enter();
    if (turn) await turn;
    const birth = birthPrefix(born);
    this.commits += 1;
    const commit = `${birth}${this.opened}-${this.commits.toString(36)}`;
    const { watchdog } = this;
    const onEnded = (): void => underWay.leave();
    try {
      return new IdbTransaction(idb, { ...options, mode, birth, commit, watchdog, onEnded });
    } catch (reason) {
      underWay.leave();
      throw reason;
    }
  }

  /** Takes everything back unless the body ends well and this is the database that was opened. */
  private async changing<T>(tx: IdbTransaction, body: () => Promise<T>): Promise<T> {
    try {
      const value = await body();
      if (tx.mustLookAtStamp)
        this.requireBirth(await tx.raw(spaceOfStamp(tx.plan.spaces), STAMP_KEY));
      return value;
    } catch (reason) {
      tx.drop();
      throw tx.failure ?? reason;
    }
  }

  private requireBirth(stamp: unknown): void {
    try {
      requireBirth(stamp, this.born);
    } catch (reason) {
      const isLost = reason instanceof Refusal && reason.code === 'local_data_loss';
      if (this.state.state === 'open') {
        void this.checkpoint.abandon();
        this.end(isLost ? replaced : newerDatabase);
        this.options.onEnd?.(isLost ? 'lost' : 'upgraded by another tab');
      }
      throw reason;
    }
  }

  /** A commit was on its way when the connection was lost: has it arrived? */
  private async hasArrived(connection: Connection, former: IdbTransaction): Promise<boolean> {
    const tx = await this.begin(connection, 'readonly', META);
    const arrived = await former.hasArrived(tx);
    if (arrived !== undefined) return arrived;
    throw new Refusal(
      'storage_unavailable',
      'The connection to the storage was lost during a commit, and others have written since, so the write may or may not be stored. Check before you write it again.',
    );
  }

  private reconnected(lost: Connection): Promise<Connection> {
    const { state } = this;
    if (state.state === 'open' && state.connection !== lost)
      return Promise.resolve(state.connection);
    this.reopening ??= this.reopen(lost).finally(() => (this.reopening = undefined));
    return this.reopening;
  }

  private async reopen(lost: Connection): Promise<Connection> {
    void lost.close(connectionLost);
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.tryReopen();
      } catch (reason) {
        if (!(reason instanceof TransactionFailure)) throw reason;
        if (!reason.isConnectionLoss || tries >= TRIES_MAX) throw thrownFor(reason);
      }
    }
  }

  private async tryReopen(): Promise<Connection> {
    const connection = await this.connect();
    try {
      const tx = await this.begin(connection, 'readonly', META);
      this.requireBirth(await tx.raw('meta', STAMP_KEY));
      if (this.state.state === 'ended') throw this.state.refusal();
    } catch (reason) {
      await connection.close(closed);
      throw reason;
    }
    this.state = { state: 'open', connection };
    return connection;
  }

  private async settle(connection: Connection, outside: Marker | undefined): Promise<void> {
    const all = { spaces: SPACES, durability: 'strict' } as const;
    const settling = await this.begin(connection, 'readwrite', all);
    const settled = await settleBirth(settling, this.options.head, outside, this.born).catch(
      dropping(settling),
    );
    await settling.commit();
    for (let format = settled.format; format < this.format; format += 1) {
      const born = { birth: settled.birth, format: format + 1 };
      const tx = await this.begin(connection, 'readwrite', all, born);
      await this.options.migrations?.run(tx, format).catch(dropping(tx));
      await tx.commit();
    }
    this.isNew = settled.birth === this.born.birth;
    this.born = { birth: settled.birth, format: this.format };
    this.loss = settled.loss;
    this.state = { state: 'open', connection };
    this.checkpoint.begin(settled, outside);
  }

  private end(refusal: () => Refusal): void {
    if (this.state.state === 'open') this.closing = this.state.connection.close(refusal);
    this.state = { state: 'ended', refusal };
  }
}

/** Deletes a database that is not open here, and all that is kept outside it. */
export async function destroyStore(
  name: string,
  {
    marker,
    openDeadlineMs = OPEN_DEADLINE_MS,
  }: Pick<IndexedDbStoreOptions, 'marker' | 'openDeadlineMs'>,
): Promise<void> {
  const outside = marker === undefined ? await openOutsideMarker(name) : marker;
  // First: a marker without a database would be taken for a loss.
  await outside?.remove();
  await deleteDatabase(name, openDeadlineMs);
  // Another tab may have written it anew until it heard of the deletion.
  await outside?.remove();
  await removeMarksOf(name);
}

/** Takes back everything that a transaction did, and throws why it failed. */
const dropping =
  (tx: IdbTransaction) =>
  (reason: unknown): never => {
    tx.drop();
    throw tx.failure ?? reason;
  };

/** Each space has the stamp; `meta` is the one that everybody writes. */
const spaceOfStamp = (spaces: readonly Space[]): Space =>
  (spaces.includes('meta') ? undefined : spaces[0]) ?? 'meta';

/** Whoever waits for a turn on it goes on on the next one. */
const connectionLost = (): TransactionFailure =>
  new TransactionFailure(new DOMException('The connection was lost.', 'InvalidStateError'), false);

function unfinished(): never {
  throw new Error(endedEarly());
}

const closed = (): Refusal =>
  new Refusal('storage_unavailable', 'This database is closed. Open it again.');

const deleted = (): Refusal =>
  new Refusal(
    'storage_unavailable',
    'This database was deleted by another tab. Open it again to start with an empty one.',
  );
