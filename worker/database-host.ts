/** The one database that a worker serves, from opening to closing, locked or not. */
import type { PageMessage, Reply, WorkerMessage } from '../src/host/api.ts';
import type { OpenOptions, OpenReply, UnlockCall, UnlockReply } from '../src/host/open.ts';
import type { HttpCall, HttpReply } from '../src/host/query.ts';
import type { SalvageResult } from '../src/host/salvage.ts';
import { Refusal } from '../src/errors.ts';
import { probePersistence } from './browser/persistence.ts';
import { answerHttp, onMessage, lockedAnswer, lossData, type Opened } from './host-calls.ts';
import { locked, writeLock } from './lock/lock.ts';
import { tryLogin } from './lock/unlock.ts';
import { openDatabase } from './open-database.ts';
import { destroyAll, type DatabaseStorage } from './opening/find-store.ts';
import { closed } from './queries/long-queries.ts';
import { OutgoingStreams } from './queries/outgoing-streams.ts';
import { QueryRunner } from './queries/query-runner.ts';
import { replyOf, report } from './queries/replies.ts';
import { deletedElsewhere } from './store/stored-database.ts';
import { Tabs } from './tabs/tabs.ts';

type State =
  | { readonly kind: 'new' }
  | { readonly kind: 'opening' }
  | { readonly kind: 'open'; readonly opened: Opened }
  /** Only attempts to unlock are accepted. */
  | { readonly kind: 'locked'; readonly opened: Opened }
  | { readonly kind: 'closed'; readonly refusal: () => Refusal };

export class DatabaseHost {
  private readonly storage: DatabaseStorage;
  private state: State = { kind: 'new' };
  private readonly inFlight = new Set<Promise<unknown>>();
  /** The last change of the lock that arrived while the database was being opened. */
  private lockNotice: 'locked' | 'unlocked' | undefined = undefined;
  /** Settles when the database has released everything. Undefined until closing begins. */
  private closing: Promise<void> | undefined = undefined;

  constructor(storage: DatabaseStorage) {
    this.storage = storage;
  }

  open(options: OpenOptions, port: MessagePort): Promise<Reply<OpenReply>> {
    return replyOf(async () => {
      this.requireNew();
      this.state = { kind: 'opening' };
      const emit = (message: WorkerMessage): void => port.postMessage(message);
      // Started first: probing runs while the database is being opened.
      const persistenceProbed = probePersistence();
      const database = await openDatabase(this.storage, options, {
        emit,
        onClosed: (description) => this.loseStore(description, emit),
        onDestroyed: () => this.loseStore(deletedElsewhere(), emit),
        onLock: (state) => this.onLock(state, emit),
      });
      if (!database) return { deleted: deletedElsewhere() };
      const streams = new OutgoingStreams(emit);
      const runner = new QueryRunner(database.http);
      const opened = { name: options.name, database, runner, streams, port };
      this.state = { kind: database.isLocked ? 'locked' : 'open', opened };
      port.addEventListener('message', ({ data }: MessageEvent<PageMessage>) =>
        onMessage(opened, data),
      );
      port.start();
      const persistence = await persistenceProbed;
      if (this.lockNotice) this.onLock(this.lockNotice, emit);
      const rootSecret = database.isLocked ? undefined : database.rootSecret;
      const { birth, loss } = database.stored;
      return { birth, rootSecret, persistence, loss: lossData(loss) };
    });
  }

  answer<T>(work: (opened: Opened) => Promise<T>): Promise<Reply<T>> {
    const { state } = this;
    const running = replyOf(async () => {
      if (state.kind === 'open') return work(state.opened);
      throw refusalIn(state);
    });
    this.inFlight.add(running);
    void running.finally(() => this.inFlight.delete(running));
    return running;
  }

  /** When the database is locked, an HTTP request gets an HTTP response with the error `locked`. */
  async answerHttp(call: HttpCall): Promise<Reply<HttpReply>> {
    const reply = await this.answer((opened) => answerHttp(opened, call));
    return reply.ok || reply.refusal.code !== 'locked'
      ? reply
      : { ok: true, value: lockedAnswer(call) };
  }

  lock(): Promise<Reply<void>> {
    return replyOf(async () => {
      const { state } = this;
      if (state.kind === 'locked') return;
      if (state.kind !== 'open') throw refusalIn(state);
      const { database } = state.opened;
      // Also before the write: if this tab dies after the write, the only other tab could acquire the lease, trust its cache and never
      // read the mark.
      database.tabs.broadcast({ type: 'locked' });
      await writeLock(database.stored.store, 'locked');
      database.tabs.broadcast({ type: 'locked' });
      // Queries that are still running read the mark and fail. The page terminates this worker as soon as it receives the reply.
      this.state = { kind: 'closed', refusal: locked };
      await database.http.log?.flush();
      this.letGo(state.opened);
    });
  }

  /** Also works on a locked database: whoever deletes one must know which writes would be lost. */
  unsent(): Promise<Reply<number>> {
    return replyOf(async () => {
      const { database } = this.requireOpened();
      return database.sync.unsent();
    });
  }

  unlock(call: UnlockCall): Promise<Reply<UnlockReply>> {
    return replyOf(async () => {
      const { database } = this.requireOpened();
      const reply = await tryLogin(database, call);
      // Unless another tab has already unlocked the database.
      if (reply.status >= 300 || this.state.kind !== 'locked') return reply;
      await writeLock(database.stored.store, 'open');
      database.tabs.broadcast({ type: 'unlocked' });
      await this.shut(unlocked);
      return reply;
    });
  }

  close(): Promise<Reply<void>> {
    return replyOf(async () => {
      await this.shut(closed);
      await this.closing;
    });
  }

  destroy(): Promise<Reply<void>> {
    return replyOf(async () => {
      // The results and writes of long queries would be deleted anyway.
      openedIn(this.state)?.database.endLongQueries();
      const opened = await this.shut(closed, async ({ database }) => {
        // If the deletion is interrupted, or blocked by a frozen tab, the next open finds this mark and completes the deletion.
        await writeLock(database.stored.store, 'forgotten').catch(report);
        database.tabs.broadcast({ type: 'destroyed' });
      });
      if (opened)
        await destroyAll(opened.name, this.storage, () => opened.database.stored.destroy());
    });
  }

  forget(name: string): Promise<Reply<void>> {
    return replyOf(async () => {
      this.requireNew();
      const tabs = new Tabs(name, () => undefined, this.storage.isShared);
      tabs.broadcast({ type: 'destroyed' });
      try {
        await destroyAll(name, this.storage, () => this.storage.destroyStore(name));
      } finally {
        tabs.close();
      }
    });
  }

  salvage(from: string, into: string): Promise<Reply<SalvageResult>> {
    return replyOf(async () => {
      this.requireNew();
      const { openStore, salvage } = this.storage;
      if (!salvage) throw new Refusal('storage_unavailable', NO_SALVAGE);
      const request = { name: into, aliveLock: `burrow:salvage:${into}`, settings: NEW_STORE };
      const handlers = { onClosed: () => undefined, leaseTerm: () => undefined };
      const target = await openStore(request, handlers);
      if (!target.isNew) {
        await target.store.close();
        throw new Refusal('storage_unavailable', `${JSON.stringify(into)} exists: name a new one.`);
      }
      try {
        const salvaged = await salvage(from, target.store);
        await target.store.close();
        return salvaged;
      } catch (reason) {
        await target.destroy();
        throw reason;
      }
    });
  }

  /** The open database, locked or not. @throws Refusal if no database is open */
  private requireOpened(): Opened {
    const opened = openedIn(this.state);
    if (!opened) throw refusalIn(this.state);
    return opened;
  }

  private requireNew(): void {
    if (this.state.kind !== 'new') throw new Error('This worker has already opened a database.');
  }

  /** Rejects new calls, waits for the running ones, then closes the database. @returns undefined if no database was open */
  private async shut(
    refusal: () => Refusal,
    before?: (opened: Opened) => Promise<void>,
  ): Promise<Opened | undefined> {
    const opened = openedIn(this.state);
    if (!opened) return undefined;
    this.state = { kind: 'closed', refusal };
    await opened.streams.close();
    opened.runner.close();
    opened.database.sync.failWaits(refusal());
    opened.database.sync.files.end();
    await Promise.all(this.inFlight);
    await before?.(opened);
    this.closing = opened.database.close();
    await this.closing;
    return opened;
  }

  /** The database became unavailable through another tab or the browser, not by a call of this page. */
  private lose(refusal: () => Refusal, emit: () => void): void {
    if (this.state.kind === 'closed') return;
    const opened = openedIn(this.state);
    this.state = { kind: 'closed', refusal };
    emit();
    if (opened) this.letGo(opened);
  }

  /** Closes the database without waiting for running calls. */
  private letGo({ database }: Opened): void {
    // First, because a file that is still being stored would recreate the database of the files after another tab has deleted it.
    database.sync.files.close();
    this.closing = database.close().catch(report);
  }

  private loseStore(description: string, emit: (message: WorkerMessage) => void): void {
    const refusal = (): Refusal => new Refusal('storage_unavailable', description);
    this.lose(refusal, () => emit({ type: 'closed', description }));
  }

  /** Another tab has changed the lock, or a transaction has read the mark. */
  private onLock(state: 'locked' | 'unlocked', emit: (message: WorkerMessage) => void): void {
    if (this.state.kind === 'opening') this.lockNotice = state;
    const isNews = this.state.kind === (state === 'locked' ? 'open' : 'locked');
    if (isNews) this.lose(state === 'locked' ? locked : unlocked, () => emit({ type: state }));
  }
}

const unlocked = (): Refusal =>
  new Refusal('storage_unavailable', 'The database was unlocked and is being reopened.');

const NO_SALVAGE = 'Only databases that are stored in IndexedDB can be salvaged.';
/** For the new database, whichever layout the damaged one had. */
const NEW_STORE = { store: 'packed' } as const;

const openedIn = (state: State): Opened | undefined =>
  state.kind === 'open' || state.kind === 'locked' ? state.opened : undefined;

function refusalIn(state: State): Refusal {
  if (state.kind === 'closed') return state.refusal();
  if (state.kind === 'locked') return locked();
  return new Refusal('storage_unavailable', 'The database is not open yet.');
}
