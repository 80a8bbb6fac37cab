/**
 * The connection of a store to one database. It reconnects when the browser has lost the connection, and ends for good when the stored
 * database is not the one that was opened. Every call settles. See docs/decisions/0003-durability-and-loss.md.
 */
import { hexOfBytes } from '../../src/codec/hex.ts';
import { Refusal } from '../../src/errors.ts';
import { databaseClosed } from '../../src/fault-texts.ts';
import type { Row } from '../../src/store/port.ts';
import { random } from '../browser/random.ts';
import {
  birthPrefix,
  replaced,
  requireBirth,
  STAMP_KEY,
  type Birth,
  type Marker,
  type StampedStore,
} from './birth-stamp.ts';
import { Checkpoint, type CheckpointOptions } from './checkpoint.ts';
import { Watchdog } from './watchdog.ts';
import {
  connectionOf,
  openDexie,
  OtherLayout,
  type Connection,
  type Superseding,
} from './idb-connection.ts';
import { newerDatabase, noResponse, thrownFor, TransactionFailure } from './idb-failure.ts';
import type { Layout } from './layouts.ts';
import {
  dropping,
  NativeTransaction,
  type NativePlan,
  type Watched,
} from './native-transaction.ts';
import { needsOneAtATime, InFlight } from './in-flight.ts';
import { renewLogAfterLoss, requireRoom } from './renew-log.ts';
import { deleted } from './stored-database.ts';
import type { WriteMark } from './write-mark.ts';

/** Why an open store has ended by itself. */
export type StoreEnd = Superseding | 'lost';

export interface ConnectionOptions extends CheckpointOptions {
  /** The store has ended by itself: every later call is rejected. */
  readonly onEnd?: (end: StoreEnd) => void;
  readonly openDeadlineMs?: number;
  /** Whether transactions run one at a time. Default: only in browsers that require it. */
  readonly isOneAtATime?: boolean;
  readonly watchdog?: Watchdog;
  /** The last connection is closed, and the store will open no other. */
  readonly onReleased?: () => void;
  /** Set before the first write, removed when the store is closed. */
  readonly mark?: WriteMark;
}

/** What a store found, or created, when it opened the database. */
export interface SettledDatabase {
  readonly birth: string;
  readonly head: number;
}

/** A browser that has just lost its storage may lose the next connection too, so the limit is more than two. */
const TRIES_MAX = 3;

type State =
  | { readonly state: 'open'; readonly connection: Connection }
  | { readonly state: 'ended'; readonly refusal: () => Refusal };

export class ReconnectingConnection {
  private born: Birth;
  private readonly name: string;
  private readonly layout: Layout;
  private readonly options: ConnectionOptions;
  private readonly watchdog: Watchdog;
  /** Distinguishes the commits of this store from those of others. */
  private readonly opened = hexOfBytes(random(8));
  private commits = 0;
  private state: State = { state: 'ended', refusal: databaseClosed };
  private reopening: Promise<Connection> | undefined = undefined;
  private readonly checkpoint: Checkpoint;
  private closing: Promise<void> | undefined = undefined;

  /** @param format format in which this code writes stored data */
  constructor(name: string, layout: Layout, format: number, options: ConnectionOptions) {
    this.name = name;
    this.layout = layout;
    this.options = options;
    this.checkpoint = new Checkpoint(name, options);
    this.watchdog = options.watchdog ?? new Watchdog();
    this.born = { birth: hexOfBytes(random(16)), format };
  }

  get stores(): readonly StampedStore[] {
    return this.layout.stamped;
  }

  get birth(): Birth {
    return this.born;
  }

  /** @param settle reads the database, or creates its contents, and calls `use()` */
  async open(
    settle: (connection: Connection, outside: Marker | undefined) => Promise<SettledDatabase>,
  ): Promise<void> {
    const reading = this.checkpoint.read();
    try {
      const connection = await this.connect();
      const outside = await reading;
      const settled = await settle(connection, outside).catch(async (reason: unknown) => {
        await (this.state.state === 'open' ? this.close() : connection.close(databaseClosed));
        throw reason;
      });
      this.checkpoint.begin(settled, outside);
    } catch (reason) {
      throw thrownFor(reason);
    }
  }

  /** From now on, `run()` uses this connection. @throws Refusal when the connection was closed for another tab in the meantime */
  use(connection: Connection, born: Birth): void {
    if (connection.superseded) throw REFUSAL_AFTER[connection.superseded]();
    this.born = born;
    this.state = { state: 'open', connection };
  }

  /** Runs `attempt` on the present connection, and again on a new one if the connection was lost. */
  async run<T>(attempt: (connection: Connection) => Promise<T>): Promise<T> {
    let connection = await this.connected();
    return again(
      () => attempt(connection),
      async () => void (connection = await this.reconnected(connection)),
    );
  }

  /** Undefined when the connection is usable as it is. @throws Refusal when the store has ended */
  ready(): Promise<unknown> | undefined {
    const { state } = this;
    if (state.state === 'ended') throw state.refusal();
    return state.connection.isLost ? this.reconnected(state.connection) : undefined;
  }

  /** Await this before a write. Undefined: there is nothing to wait for. */
  mark(): Promise<unknown> | undefined {
    return this.state.state === 'open' ? this.options.mark?.set() : undefined;
  }

  /** Begins a transaction on the connection, when its turn has come. */
  async begin<Tx extends NativeTransaction>(
    { idb, inFlight }: Connection,
    make: (idb: IDBDatabase, watched: Watched) => Tx,
  ): Promise<Tx> {
    const turn = inFlight.enter();
    if (turn) await turn;
    try {
      const tx: Tx = make(idb, {
        watchdog: this.watchdog,
        onAnswer: () => inFlight.answered(tx),
        onEnded: () => inFlight.leave(tx),
      });
      if (tx.isWriter) inFlight.write(tx);
      return tx;
    } catch (reason) {
      inFlight.leave();
      throw reason;
    }
  }

  /** Begins a transaction over object stores. */
  beginNative(connection: Connection, plan: NativePlan): Promise<NativeTransaction> {
    return this.begin(
      connection,
      (idb, watched) => new NativeTransaction(idb, { ...plan, ...watched }),
    );
  }

  /**
   * Runs `body` in a transaction over object stores, and commits it; both again if the connection was lost. So the changes must have the
   * same result when they are executed twice.
   */
  change<T>(
    plan: Omit<NativePlan, 'mode'>,
    body: (tx: NativeTransaction) => Promise<T>,
  ): Promise<T> {
    return this.run(async (connection) => {
      const tx = await this.beginNative(connection, { ...plan, mode: 'readwrite' });
      const value = await body(tx).catch(dropping(tx));
      await tx.commit();
      return value;
    });
  }

  /** A new name for each commit, by which the commit can be recognized later. */
  nextCommit(): string {
    this.commits += 1;
    return `${birthPrefix(this.born)}${this.opened}-${this.commits.toString(36)}`;
  }

  /** Ends the store when the stamp is not that of the database that was opened. @throws Refusal */
  requireBirth(stamp: unknown): void {
    try {
      requireBirth(stamp, this.born);
    } catch (reason) {
      const isLost = reason instanceof Refusal && reason.code === 'local_data_loss';
      this.endAs(isLost ? 'lost' : 'upgraded by another tab');
      throw reason;
    }
  }

  /** Ends the store, because the stored database is not the one that was opened. @throws Refusal */
  lost(): never {
    this.endAs('lost');
    throw replaced();
  }

  /** Records the head row that the last commit wrote. */
  recordHead(row: Row): void {
    this.checkpoint.record(row);
  }

  async close(): Promise<void> {
    await this.disconnect();
    await Promise.all([this.checkpoint.flush(), this.options.mark?.remove()]);
  }

  /** Closes the connection for good, because the stored database is about to be deleted. */
  async abandon(): Promise<void> {
    await this.disconnect();
    await this.checkpoint.abandon();
  }

  /** Ends the store, and resolves when it has no connection any more, not even one that was just being opened again. */
  private async disconnect(): Promise<void> {
    if (this.state.state === 'open') this.end(databaseClosed);
    await Promise.allSettled([this.closing, this.reopening]);
  }

  private async connect(): Promise<Connection> {
    const { isOneAtATime = needsOneAtATime(navigator.userAgent), openDeadlineMs } = this.options;
    const dexie = await openDexie(this.name, this.layout, openDeadlineMs).catch(
      async (reason: unknown) => {
        if (reason instanceof TransactionFailure && reason.isConnectionLoss) await this.doubtLog();
        throw reason;
      },
    );
    const inFlight = new InFlight({ isOneAtATime, watchdog: this.watchdog });
    return connectionOf(dexie, inFlight, {
      onLost: () => void this.doubtLog(),
      onSuperseded: (by) => this.endAs(by),
    });
  }

  private async connected(): Promise<Connection> {
    const { state } = this;
    if (state.state === 'ended') throw state.refusal();
    return state.connection.isLost ? this.reconnected(state.connection) : state.connection;
  }

  private reconnected(lost: Connection): Promise<Connection> {
    const { state } = this;
    if (state.state === 'open' && state.connection !== lost)
      return Promise.resolve(state.connection);
    this.reopening ??= this.reopen(lost).finally(() => (this.reopening = undefined));
    return this.reopening;
  }

  /** Writing to the log may have failed. */
  private async doubtLog(): Promise<void> {
    await this.options.mark?.doubt();
  }

  private reopen(lost: Connection): Promise<Connection> {
    void this.doubtLog();
    void lost.close(connectionLost);
    return again(() => this.tryReopen());
  }

  private async tryReopen(): Promise<Connection> {
    // Only where losing a connection can tear a log.
    const { mark } = this.options;
    if (mark) await requireRoom();
    const connection = await this.connect().catch((reason: unknown) => {
      // Another tab has moved the database into another layout in the meantime.
      if (!(reason instanceof OtherLayout)) throw reason;
      this.endAs('upgraded by another tab');
      throw newerDatabase();
    });
    const { witness = 'meta' } = this.layout;
    try {
      const tx = await this.beginNative(connection, { ...READ_ONLY, stores: [witness] });
      this.requireBirth(await tx.raw(witness, STAMP_KEY));
      if (this.state.state === 'ended') throw this.state.refusal();
    } catch (reason) {
      await connection.close(databaseClosed);
      throw reason;
    }
    this.state = { state: 'open', connection };
    if (mark) await renewLogAfterLoss(mark);
    return connection;
  }

  private endAs(end: StoreEnd): void {
    if (this.state.state === 'ended') return;
    void this.checkpoint.abandon();
    this.end(REFUSAL_AFTER[end]);
    this.options.onEnd?.(end);
  }

  private end(refusal: () => Refusal): void {
    if (this.state.state === 'open') {
      this.closing = this.state.connection.close(refusal);
      void this.closing.then(this.options.onReleased);
    }
    this.state = { state: 'ended', refusal };
  }
}

/** @param reconnect called after each attempt that lost its connection */
async function again<T>(attempt: () => Promise<T>, reconnect?: () => Promise<void>): Promise<T> {
  let unsure: Refusal | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (reason) {
      if (!(reason instanceof TransactionFailure && reason.isConnectionLoss)) {
        const other = thrownFor(reason);
        const isOfStorage = other instanceof Refusal && other.code.startsWith('storage_');
        // This attempt did nothing, but the previous one may have committed.
        throw (isOfStorage && unsure) || other;
      }
      if (reason.mayBeCommitted) unsure = noResponse(true);
      if (tries >= TRIES_MAX) throw unsure ?? thrownFor(reason);
      await reconnect?.().catch((other: unknown) => {
        // Without a connection, nobody can check whether the commit succeeded.
        throw unsure ?? other;
      });
    }
  }
}

export const READ_ONLY = { mode: 'readonly', durability: 'relaxed' } as const;

/** Transactions that wait for their turn on a lost connection are retried on the next one. */
const connectionLost = (): TransactionFailure =>
  new TransactionFailure(new DOMException('The connection was lost.', 'InvalidStateError'), false);

/** The refusals of all calls after the end. */
const REFUSAL_AFTER: Readonly<Record<StoreEnd, () => Refusal>> = {
  'upgraded by another tab': newerDatabase,
  'deleted by another tab': deleted,
  lost: replaced,
};
