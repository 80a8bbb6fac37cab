/**
 * The connection of a store to one database: another takes its place when the browser lost it, and it ends for good when what is
 * stored is not the database any more that was opened. Every call settles. See docs/decisions/0003-durability-and-loss.md.
 */
import { hexOfBytes } from '../../src/codec/hex.ts';
import { Refusal } from '../../src/errors.ts';
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
import { connect, MadeWith, type Connection, type Superseding } from './idb-connection.ts';
import { newerDatabase, silent, thrownFor, TransactionFailure } from './idb-failure.ts';
import type { Layout } from './layouts.ts';
import { NativeTransaction, type Watched } from './native-transaction.ts';
import { needsOneAtATime, InFlight } from './in-flight.ts';
import { deleted } from './stored-database.ts';
import type { WriteMark } from './write-mark.ts';

/** Why a store that was open is not any more. */
export type StoreEnd = Superseding | 'lost';

export interface ConnectionOptions extends CheckpointOptions {
  /** The store has ended by itself: every later call is refused. */
  readonly onEnd?: (end: StoreEnd) => void;
  readonly openDeadlineMs?: number;
  /** Whether a transaction begins only when the one before has ended; absent: where the browser makes that necessary. */
  readonly isOneAtATime?: boolean;
  readonly watchdog?: Watchdog;
  /** Its last connection is closed, and no other follows. */
  readonly onReleased?: () => void;
  /** Set before the first write, removed when the store is closed. */
  readonly mark?: WriteMark;
}

/** What a store makes of the database when it opens it. */
export interface SettledDatabase {
  readonly birth: string;
  readonly head: number;
}

export const OPEN_DEADLINE_MS = 10_000;
/** A browser that has just lost its storage may lose the next connection too. */
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
  /** Distinguishes this store's commits from those of others. */
  private readonly opened = hexOfBytes(random(8));
  private commits = 0;
  private state: State = { state: 'ended', refusal: closed };
  private reopening: Promise<Connection> | undefined = undefined;
  private readonly checkpoint: Checkpoint;
  private closing: Promise<void> | undefined = undefined;

  /** @param format of what is stored, as this code writes it */
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

  /** @param settle finds out what is stored, or makes it, and calls `use()` */
  async open(
    settle: (connection: Connection, outside: Marker | undefined) => Promise<SettledDatabase>,
  ): Promise<void> {
    const reading = this.checkpoint.read();
    try {
      const connection = await this.connect();
      const outside = await reading;
      const settled = await settle(connection, outside).catch(async (reason: unknown) => {
        await (this.state.state === 'open' ? this.close() : connection.close(closed));
        throw reason;
      });
      this.checkpoint.begin(settled, outside);
    } catch (reason) {
      throw thrownFor(reason);
    }
  }

  /** From now on `run()` runs on it: this is the database that is stored. @throws Refusal when it has given way meanwhile */
  use(connection: Connection, born: Birth): void {
    if (connection.superseded) throw refusalAfter(connection.superseded)();
    this.born = born;
    this.state = { state: 'open', connection };
  }

  /** Runs it on the present connection, and again on a new one when that was lost. */
  async run<T>(attempt: (connection: Connection) => Promise<T>): Promise<T> {
    let connection = await this.connected();
    return again(
      () => attempt(connection),
      async () => void (connection = await this.reconnected(connection)),
    );
  }

  /** Undefined when it can be used as it is. @throws Refusal when it has ended */
  ready(): Promise<unknown> | undefined {
    const { state } = this;
    if (state.state === 'ended') throw state.refusal();
    return state.connection.isLost ? this.reconnected(state.connection) : undefined;
  }

  /** To be awaited before a write; undefined: there is nothing to wait for. */
  mark(): Promise<unknown> | undefined {
    return this.state.state === 'open' ? this.options.mark?.set() : undefined;
  }

  /** A transaction on it, when its turn has come. */
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

  /** Another each time: by it a commit is known again. */
  nextCommit(): string {
    this.commits += 1;
    return `${birthPrefix(this.born)}${this.opened}-${this.commits.toString(36)}`;
  }

  /** Ends everything when that is not the stamp of the database that was opened. @throws Refusal */
  requireBirth(stamp: unknown): void {
    try {
      requireBirth(stamp, this.born);
    } catch (reason) {
      const isLost = reason instanceof Refusal && reason.code === 'local_data_loss';
      this.endAs(isLost ? 'lost' : 'upgraded by another tab');
      throw reason;
    }
  }

  /** What is stored turned out to be another database. @throws Refusal */
  lost(): never {
    this.endAs('lost');
    throw replaced();
  }

  /** The last commit wrote this head. */
  recordHead(row: Row): void {
    this.checkpoint.record(row);
  }

  async close(): Promise<void> {
    if (this.state.state === 'open') this.end(closed);
    await this.closing;
    await Promise.all([this.checkpoint.flush(), this.options.mark?.remove()]);
  }

  /** Closes it for good: what is stored is going to be deleted. */
  async abandon(): Promise<void> {
    if (this.state.state === 'open') this.end(closed);
    await this.closing;
    await this.checkpoint.abandon();
  }

  private connect(): Promise<Connection> {
    const { isOneAtATime = needsOneAtATime(navigator.userAgent), openDeadlineMs } = this.options;
    const inFlight = new InFlight({ isOneAtATime, watchdog: this.watchdog });
    const deadlineMs = openDeadlineMs ?? OPEN_DEADLINE_MS;
    return connect(this.name, this.layout, deadlineMs, inFlight, {
      onSuperseded: (by) => {
        if (this.state.state === 'ended') return;
        void this.checkpoint.abandon();
        this.end(refusalAfter(by));
        this.options.onEnd?.(by);
      },
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

  private reopen(lost: Connection): Promise<Connection> {
    void lost.close(connectionLost);
    return again(() => this.tryReopen());
  }

  private async tryReopen(): Promise<Connection> {
    const connection = await this.connect().catch((reason: unknown) => {
      // Another tab has moved it into another layout meanwhile.
      if (!(reason instanceof MadeWith)) throw reason;
      this.endAs('upgraded by another tab');
      throw newerDatabase();
    });
    const { witness = 'meta' } = this.layout;
    try {
      const tx = await this.begin(
        connection,
        (idb, watched) =>
          new NativeTransaction(idb, { ...READ_ONLY, stores: [witness], ...watched }),
      );
      this.requireBirth(await tx.raw(witness, STAMP_KEY));
      if (this.state.state === 'ended') throw this.state.refusal();
    } catch (reason) {
      await connection.close(closed);
      throw reason;
    }
    this.state = { state: 'open', connection };
    return connection;
  }

  private endAs(end: StoreEnd): void {
    if (this.state.state === 'ended') return;
    void this.checkpoint.abandon();
    this.end(end === 'lost' ? replaced : newerDatabase);
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

/** @param reconnect after each attempt that has lost its connection */
async function again<T>(attempt: () => Promise<T>, reconnect?: () => Promise<void>): Promise<T> {
  let unsure: Refusal | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (reason) {
      if (!(reason instanceof TransactionFailure && reason.isConnectionLoss)) {
        const other = thrownFor(reason);
        const isOfStorage = other instanceof Refusal && other.code.startsWith('storage_');
        // Of this attempt nothing was done; of the one before something may have been.
        throw (isOfStorage && unsure) || other;
      }
      if (reason.mayBeCommitted) unsure = silent(true);
      if (tries >= TRIES_MAX) throw unsure ?? thrownFor(reason);
      await reconnect?.().catch((other: unknown) => {
        // Nobody can check whether it has arrived.
        throw unsure ?? other;
      });
    }
  }
}

const READ_ONLY = { mode: 'readonly', durability: 'relaxed' } as const;

/** Whoever waits for a turn on it goes on on the next one. */
const connectionLost = (): TransactionFailure =>
  new TransactionFailure(new DOMException('The connection was lost.', 'InvalidStateError'), false);

const closed = (): Refusal =>
  new Refusal('storage_unavailable', 'This database is closed. Open it again.');

const refusalAfter = (by: Superseding): (() => Refusal) =>
  by === 'upgraded by another tab' ? newerDatabase : deleted;
